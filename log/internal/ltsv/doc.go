// Package ltsv appends labels and values in the notation of the event format's
// LTSV. Whatever writes events as LTSV goes through it.
package ltsv
