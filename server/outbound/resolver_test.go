package outbound

import (
	"context"
	"encoding/binary"
	"io"
	"net"
	"net/netip"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"golang.org/x/net/dns/dnsmessage"
)

// nameServer answers every question for an IPv4 address with the next of its addresses, and stays with the last. It has
// no IPv6 addresses. Without any addresses it refuses every question with its code (RFC 1035 4.1.1).
type nameServer struct {
	t         *testing.T
	code      dnsmessage.RCode
	mu        sync.Mutex
	addresses []netip.Addr
	served    sync.WaitGroup
}

func newResolver(t *testing.T, addresses ...string) *nameServer {
	server := &nameServer{t: t}
	for _, address := range addresses {
		server.addresses = append(server.addresses, netip.MustParseAddr(address))
	}
	t.Cleanup(server.served.Wait)
	return server
}

// newRefusing returns a name server that knows no name (RCodeNameError), or can't say (RCodeServerFailure).
func newRefusing(t *testing.T, code dnsmessage.RCode) *nameServer {
	server := newResolver(t)
	server.code = code
	return server
}

func (s *nameServer) resolver() *net.Resolver {
	return &net.Resolver{PreferGo: true, StrictErrors: true, Dial: func(context.Context, string, string) (net.Conn, error) {
		ours, theirs := net.Pipe()
		s.served.Go(func() { s.serve(ours) })
		return theirs, nil
	}}
}

// serve speaks DNS as over TCP (RFC 1035 4.2.2), which net.Resolver does on any connection that is no net.PacketConn.
func (s *nameServer) serve(conn net.Conn) {
	defer conn.Close()
	for {
		var length [2]byte
		if _, err := io.ReadFull(conn, length[:]); err != nil {
			return
		}
		question := make([]byte, binary.BigEndian.Uint16(length[:]))
		if _, err := io.ReadFull(conn, question); err != nil {
			return
		}
		answer := s.answer(question)
		if _, err := conn.Write(append(binary.BigEndian.AppendUint16(nil, uint16(len(answer))), answer...)); err != nil {
			return
		}
	}
}

func (s *nameServer) answer(question []byte) []byte {
	var message dnsmessage.Message
	assert.NoError(s.t, message.Unpack(question))
	message.Response, message.RecursionAvailable, message.Additionals = true, true, nil
	message.RCode = s.code
	for _, q := range message.Questions {
		if s.code == dnsmessage.RCodeSuccess && q.Type == dnsmessage.TypeA {
			message.Answers = append(message.Answers, dnsmessage.Resource{
				Header: dnsmessage.ResourceHeader{Name: q.Name, Type: q.Type, Class: q.Class},
				Body:   &dnsmessage.AResource{A: s.next().As4()},
			})
		}
	}
	packed, err := message.Pack()
	assert.NoError(s.t, err)
	return packed
}

func (s *nameServer) next() netip.Addr {
	s.mu.Lock()
	defer s.mu.Unlock()
	address := s.addresses[0]
	if len(s.addresses) > 1 {
		s.addresses = s.addresses[1:]
	}
	return address
}
