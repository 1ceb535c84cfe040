//go:build !linux

package halves

import (
	"errors"
	"os/exec"
)

// Divide returns [errors.ErrUnsupported], because other systems have no processors of a process.
func Divide() ([2]Half, error) { return [2]Half{}, errors.ErrUnsupported }

// Start cannot be called, because there are no halves.
func (Half) Start(*exec.Cmd) error { return errors.ErrUnsupported }
