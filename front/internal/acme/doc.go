// Package acme obtains and renews certificates from a certification authority that speaks
// ACME (RFC 8555).
//
// A [Manager] has the certificates of a list of names. It keeps them, its account and the
// challenges in progress in a folder that several processes may share. Package certmagic does
// the storage, the locks, the renewal and the stapling of OCSP; acmez speaks the protocol.
// The manager opens no listener: the front door asks it for the responses to challenges.
package acme
