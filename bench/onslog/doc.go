// Package onslog holds log/onslog to the packages that it stands in for: both
// are given the same events, and must write the same bytes. All of it is tests.
package onslog
