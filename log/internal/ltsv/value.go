package ltsv

import (
	"github.com/weirhq/weir/log/internal/jsonscan"
	"github.com/weirhq/weir/log/internal/text"
)

// AppendValue appends s as a value: backslash, tab, LF and CR as two
// characters, what else disturbs a terminal as \uxxxx, and each byte of invalid
// UTF-8 as U+FFFD.
func AppendValue[T jsonscan.Text](dst []byte, s T) []byte { return text.AppendLTSV(dst, text.View(s)) }
