package hosts

import (
	"net"
	"net/http"
	"sync"
	"time"
)

// End is what happens to a body once a fault has let its bytes through.
type End int

const (
	// Finish sends the rest; useful with Fault.Then.
	Finish End = iota
	// Short ends the body cleanly, as if the file were that long.
	Short
	// Cut closes the connection in the middle of the announced length.
	Cut
	// Reset closes the connection with a TCP reset.
	Reset
	// Stall sends nothing more and keeps the connection open until the fault is lifted or the
	// client leaves.
	Stall
	// Trickle sends the rest byte by byte, a few a second, until the fault is lifted or the client
	// leaves: slow, yet never silent.
	Trickle
)

// trickle is the time between two bytes of a trickle.
const trickle = 200 * time.Millisecond

// Fault is something that goes wrong with the requests for one path.
type Fault struct {
	// User and Path say whose requests for which decoded path, relative to the WebDAV root with a
	// leading slash. An empty User or Path means any. What a host answers beside WebDAV can be broken where the
	// host says so, by its path below the host's address.
	User, Path string
	// Method is the request method; empty means GET.
	Method string
	// Status, if set, is the whole answer.
	Status int
	// Header is added to an answer by Status.
	Header http.Header
	// After is how many bytes of the body pass before Then and End.
	After int64
	// Then, if set, runs once when After bytes have passed: to change the file, say.
	Then func()
	// End says what happens next.
	End End
}

// Faults are the faults of a host. The zero value has none.
type Faults struct {
	mu     sync.Mutex
	active []*activeFault
}

type activeFault struct {
	Fault
	then   sync.Once
	lifted chan struct{}
}

// Fault adds f until the function that it returns is called.
func (s *Faults) Fault(f Fault) (lift func()) {
	if f.Method == "" {
		f.Method = http.MethodGet
	}
	added := &activeFault{Fault: f, lifted: make(chan struct{})}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.active = append(s.active, added)
	return sync.OnceFunc(func() { s.lift(added) })
}

func (s *Faults) lift(f *activeFault) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i, active := range s.active {
		if active == f {
			s.active = append(s.active[:i], s.active[i+1:]...)
			close(f.lifted)
			return
		}
	}
}

// Clear lifts all faults.
func (s *Faults) Clear() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, f := range s.active {
		close(f.lifted)
	}
	s.active = nil
}

func (s *Faults) find(method, user, path string) *activeFault {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, f := range s.active {
		if f.Method == method && (f.User == "" || f.User == user) && (f.Path == "" || f.Path == path) {
			return f
		}
	}
	return nil
}

// Serve answers by next, or as the fault says that hits this request of user for path, which is
// decoded, relative to the user's top folder and begins with a slash.
func (s *Faults) Serve(w http.ResponseWriter, r *http.Request, user, path string, next http.HandlerFunc) {
	f := s.find(r.Method, user, path)
	switch {
	case f == nil:
		next(w, r)
	case f.Status != 0:
		for name, values := range f.Header {
			w.Header()[name] = values
		}
		http.Error(w, http.StatusText(f.Status), f.Status)
	default:
		next(&faultyWriter{ResponseWriter: w, request: r, fault: f, left: f.After}, r)
	}
}

// faultyWriter lets the first bytes through and then does what its fault says.
type faultyWriter struct {
	http.ResponseWriter
	request *http.Request
	fault   *activeFault
	left    int64
}

// WriteHeader drops the length of a body that will end early without a broken connection.
func (w *faultyWriter) WriteHeader(status int) {
	if w.fault.End == Short {
		w.Header().Del("Content-Length")
	}
	w.ResponseWriter.WriteHeader(status)
}

// Write passes body bytes on until the fault strikes.
func (w *faultyWriter) Write(p []byte) (int, error) {
	if int64(len(p)) < w.left {
		w.left -= int64(len(p))
		return w.ResponseWriter.Write(p)
	}
	n, err := w.ResponseWriter.Write(p[:w.left])
	if err != nil {
		return n, err
	}
	if err := http.NewResponseController(w.ResponseWriter).Flush(); err != nil {
		return n, err
	}
	rest := p[w.left:]
	w.left = 0
	w.strike()
	switch w.fault.End {
	case Short:
		return len(p), nil
	case Trickle:
		m, err := w.drip(rest)
		return n + m, err
	default:
		m, err := w.ResponseWriter.Write(rest)
		return n + m, err
	}
}

// drip writes p byte by byte; once the fault is lifted, the rest of it at once.
func (w *faultyWriter) drip(p []byte) (int, error) {
	tick := time.NewTicker(trickle)
	defer tick.Stop()
	for i := range p {
		select {
		case <-w.fault.lifted:
			n, err := w.ResponseWriter.Write(p[i:])
			return i + n, err
		case <-w.request.Context().Done():
			return i, w.request.Context().Err()
		case <-tick.C:
		}
		_, err := w.ResponseWriter.Write(p[i : i+1])
		if err == nil {
			err = http.NewResponseController(w.ResponseWriter).Flush()
		}
		if err != nil {
			return i, err
		}
	}
	return len(p), nil
}

func (w *faultyWriter) strike() {
	if w.fault.Then != nil {
		w.fault.then.Do(w.fault.Then)
	}
	switch w.fault.End {
	case Finish, Short, Trickle:
	case Cut:
		panic(http.ErrAbortHandler)
	case Reset:
		w.reset()
	case Stall:
		select {
		case <-w.fault.lifted:
		case <-w.request.Context().Done():
		}
	}
}

func (w *faultyWriter) reset() {
	conn, _, err := http.NewResponseController(w.ResponseWriter).Hijack()
	if err == nil {
		if tcp, ok := conn.(*net.TCPConn); ok {
			// With no time to linger, closing sends RST instead of FIN.
			_ = tcp.SetLinger(0)
		}
		_ = conn.Close()
	}
	panic(http.ErrAbortHandler)
}
