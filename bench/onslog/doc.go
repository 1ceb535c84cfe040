// Package onslog compares log/onslog with the packages that it replaces: both log the same events and must write the
// same bytes. It contains only tests.
package onslog
