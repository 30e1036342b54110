// Package doubles stands in for file hosts that can't be started here: Nextcloud 31, ownCloud 10 and
// OpenCloud. Each is a real HTTP server on loopback over a folder per user. It answers as the real
// one was recorded to (testdata), refuses what that refuses, and remembers what no client of it
// should have sent (docs/decisions/0013).
package doubles
