// Package certs reads certificates with their keys, and chooses one for each TLS handshake.
//
// [Load] reads a pair of files and checks that they belong together. A [Store] has the
// certificates in use. It knows neither listeners nor the configuration.
package certs
