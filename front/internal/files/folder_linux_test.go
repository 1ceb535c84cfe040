package files

// withoutOpenat2 returns a folder as it is opened on a system without openat2.
func withoutOpenat2(d Folder) opening { return opening{folder: d, fd: -1, wait: true} }
