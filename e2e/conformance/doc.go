// Package conformance holds each kind of file host to server/remote/remotetest: doubles, real servers on loopback, and
// any server that somebody has.
package conformance
