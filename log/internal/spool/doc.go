// Package spool keeps lines in files until they have been delivered. A [Store] is a folder:
//
//	FOLDER/
//	    0f3a…/                        a source: the lines of one process
//	        lock                      locked while a process owns the source
//	        cursor                    the number of the next line to deliver, perhaps an older one
//	        00000000000000000000.seg  a segment: records in the order of their lines
//	        00000000000000031415.seg  the name is the number of its first line
//
// The name of a source is random, and its lines are numbered from 0, so that the two identify
// a line. A Store appends to its own source, and delivers it after the sources that ended
// processes have left. A process of which only the cursor was not up to date has delivered
// some lines already. They are delivered again, with the same identity.
//
// Files are written without fsync: they survive the end of a process, but perhaps not the end
// of the machine.
package spool
