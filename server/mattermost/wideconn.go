package mattermost

import (
	"io"
	"net"
)

// pieceBytes is how much of an upload is sent at once. net/http sends 32 KiB, and each piece wakes up the host, the plugin
// and the server in turn.
const pieceBytes = 256 << 10

// wideConn is a connection that sends a body in large pieces.
type wideConn struct{ net.Conn }

// ReadFrom implements io.ReaderFrom, which net/http looks for when it sends a body over plain HTTP.
func (c wideConn) ReadFrom(body io.Reader) (int64, error) {
	// Each of the two would copy by its own way if it could.
	return io.CopyBuffer(struct{ io.Writer }{c.Conn}, struct{ io.Reader }{body}, make([]byte, pieceBytes))
}
