package files

import "io/fs"

// A Site finds the files of a Folder. Goroutines may share it.
type Site struct {
	Folder   Folder
	Direct   bool     // the result of Folder.IsDirect, or false
	Index    []string // names of the file that is served for a folder, in the order of preference
	Fallback string   // the path below Folder of the file for names without a file; "" for none

	// Precompressed are the codings of files that may lie beside another: "zstd" for a
	// file's name and .zst, "br" for .br and "gzip" for .gz. The first one has precedence
	// if a client accepts several alike.
	Precompressed []string
}

// Found is the result of a lookup. The caller closes File, unless AddSlash is true.
type Found struct {
	File
	Type     string // Content-Type
	Coding   string // Content-Encoding, or ""
	AddSlash bool   // the name is a folder, whose URL ends in a slash
	Path     string // below the Folder, without the suffix of the Coding
}

// Find finds the file of a name, for a client that sent the field Accept-Encoding. If it may
// not wait, it fails with an error that WouldWait recognises if it would have to. The errors
// are fs.ErrNotExist if there is no file, a *FolderError, and errors of the system.
func (s *Site) Find(n Name, acceptEncoding string, wait bool) (Found, error) {
	o, err := s.Folder.open(s.Direct, wait)
	if err != nil {
		return Found{}, err
	}
	defer o.close()
	found, err := s.plain(o, n)
	if missing(err) && s.Fallback != "" {
		found, err = regular(o, s.Fallback)
	}
	if missing(err) {
		return Found{}, fs.ErrNotExist
	}
	if err != nil || found.AddSlash || len(s.Precompressed) == 0 || acceptEncoding == "" {
		return found, err
	}
	return s.compressed(o, found, acceptEncoding)
}

// regular opens a regular file.
func regular(o *opening, path string) (Found, error) {
	f, err := o.file(path)
	if err != nil {
		return Found{}, err
	}
	if f.IsFolder {
		f.Close()
		return Found{}, fs.ErrNotExist
	}
	return Found{File: f, Type: typeOf(path), Path: path}, nil
}

// plain finds the file of a name.
func (s *Site) plain(o *opening, n Name) (Found, error) {
	if !n.Folder {
		f, err := o.file(n.Path)
		switch {
		case err != nil:
			return Found{}, err
		case f.IsFolder:
			f.Close()
			return Found{AddSlash: true}, nil
		}
		return Found{File: f, Type: typeOf(n.Path), Path: n.Path}, nil
	}
	for _, index := range s.Index {
		if found, err := regular(o, n.below(index)); err == nil || !missing(err) {
			return found, err
		}
	}
	return Found{}, fs.ErrNotExist
}

// compressed replaces a file by a compressed one beside it that the client prefers. One that
// is older than the file has been forgotten, and is ignored. Tools that copy the time of the
// file may drop the fraction of the second.
func (s *Site) compressed(o *opening, plain Found, acceptEncoding string) (found Found, err error) {
	found = plain
	preferred(acceptEncoding, s.Precompressed, func(coding string) bool {
		var f Found
		switch f, err = regular(o, plain.Path+suffixes[coding]); {
		case err == errWait:
			return true
		case err != nil: // another file is served, or this error occurs with it too
			err = nil
			return false
		case f.Modified.Unix() < plain.Modified.Unix():
			f.Close()
			return false
		}
		f.Type, f.Coding, f.Path = plain.Type, coding, plain.Path
		found = f
		return true
	})
	if err != nil || found.Coding != "" {
		plain.Close()
	}
	return found, err
}
