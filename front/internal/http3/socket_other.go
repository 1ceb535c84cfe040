//go:build !linux

package http3

import "errors"

func shareAddress(int) error { return nil }

// HandOver is not supported: a takeover needs Linux.
func (s *Socket) HandOver() error { return errors.ErrUnsupported }

// BufferSize is not supported.
func (s *Socket) BufferSize() (size, wanted int, err error) { return wantedBuffer, wantedBuffer, nil }
