package remote

import (
	"errors"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/filehost/mattermost-plugin-filehost-attach/server/remote/internal/xmlscan"
)

// readAll reads a whole answer, in a window of that many bytes at first; a nil error means that it was whole.
func readAll(source io.Reader, window int) (responses []toldResponse, err error) {
	config := scanning
	config.Window = window
	m := &multistatus{scanner: xmlscan.New(source, config)}
	for {
		r, err := m.next()
		if errors.Is(err, io.EOF) {
			return responses, nil
		}
		if err != nil {
			return responses, err
		}
		responses = append(responses, toldOf(r))
	}
}

func toldOf(r response) toldResponse {
	told := toldResponse{Hrefs: slices.Clone(r.hrefs), Found: r.values != nil, Status: r.status, Values: map[property]toldValue{}}
	if r.values == nil {
		return told
	}
	for name := range propertyCount {
		if value := r.values.of(name); r.values.has(name) {
			told.Values[name] = toldValue{r.values.content[value.start:value.end], value.elements, value.collection}
		}
	}
	return told
}

// chunkings are ways to give the bytes of an answer, each with other places where they are cut.
var chunkings = map[string]struct {
	window int
	source func(io.Reader) io.Reader
}{
	"at once":                 {windowBytes, func(r io.Reader) io.Reader { return r }},
	"byte by byte":            {windowBytes, iotest.OneByteReader},
	"in halves":               {windowBytes, iotest.HalfReader},
	"the end with the last":   {windowBytes, iotest.DataErrReader},
	"in the least window":     {16, func(r io.Reader) io.Reader { return r }},
	"in that, byte by byte":   {16, iotest.OneByteReader},
	"in a window that is odd": {61, iotest.DataErrReader},
}

// holdToOracle reads a document in every way and holds it to the oracle: the same entries, or both refuse it.
func holdToOracle(t *testing.T, document string) {
	t.Helper()
	want, refused := oracle(document)
	for name, way := range chunkings {
		got, err := readAll(way.source(strings.NewReader(document)), way.window)
		switch {
		case otherEdition(refused):
		case refused != nil:
			assert.Error(t, err, "%s: the oracle says %v", name, refused)
		default:
			require.NoError(t, err, name)
			assert.Equal(t, want, got, name)
		}
	}
}

func TestAnswersAreReadAsEncodingXMLReadsThem(t *testing.T) {
	for name, document := range recorded(t) {
		t.Run(name, func(t *testing.T) {
			_, err := oracle(document)
			require.NoError(t, err)
			holdToOracle(t, document)
		})
	}
	for name, document := range hostileDocuments {
		t.Run(name, func(t *testing.T) { holdToOracle(t, document) })
	}
}

// mostFuzzed are the bytes of the longest document that is fuzzed: many short ones find more than a few long ones.
const mostFuzzed = 8 << 10

func FuzzMultistatus(f *testing.F) {
	f.Add(small)
	for _, document := range recorded(f) {
		f.Add(document)
	}
	for _, document := range hostileDocuments {
		if len(document) < mostFuzzed {
			f.Add(document)
		}
	}
	f.Fuzz(func(t *testing.T, document string) {
		if len(document) < mostFuzzed {
			holdToOracle(t, document)
		}
	})
}
