package main

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/filehost/mattermost-plugin-filehost-attach/e2e/stack"
)

func TestRounded(t *testing.T) {
	for value, want := range map[float64]float64{0: 0, 0.123456: 0.123, 1.005: 1, 2.567: 2.57, -7.777: -7.78, 123.456: 123, 98765: 98800} {
		if got := rounded(value); got != want {
			t.Errorf("%g is rounded to %g, want %g", value, got, want)
		}
	}
}

func TestPercentile(t *testing.T) {
	var times []time.Duration
	for i := range 200 {
		times = append(times, time.Duration(200-i))
	}
	for percent, want := range map[int]time.Duration{50: 100, 99: 198, 100: 200} {
		if got := percentile(slices.Clone(times), percent); got != want {
			t.Errorf("the %d %% are at %d, want %d", percent, got, want)
		}
	}
	if got := median([]time.Duration{9, 1, 5}); got != 5 {
		t.Errorf("the median is %d, want 5", got)
	}
}

// TestInterleave wants the sides in turn, and the first round left out.
func TestInterleave(t *testing.T) {
	var order strings.Builder
	calls := 0
	named := func(name string) side {
		return func(context.Context) (time.Duration, error) {
			order.WriteString(name)
			calls++
			return time.Duration(calls), nil
		}
	}
	times, err := interleave(t.Context(), 2, named("a"), named("b"))
	if err != nil || order.String() != "ababab" || !slices.Equal(times[0], []time.Duration{3, 5}) || !slices.Equal(times[1], []time.Duration{4, 6}) {
		t.Errorf("%s gave %v, %v", order.String(), times, err)
	}
}

func TestReaderRows(t *testing.T) {
	const printed = `goos: linux
BenchmarkMultistatus/ours-2         	     100	  10000000 ns/op	 600.00 MB/s	  800000 B/op	   30000 allocs/op
BenchmarkMultistatus/encoding-xml-2 	       5	  90000000 ns/op	  60.00 MB/s	  800000 B/op	 1320000 allocs/op
BenchmarkMultistatus/gowebdav-2     	       5	  70000000 ns/op	  60.00 MB/s	  800000 B/op	 1500000 allocs/op
PASS
`
	times, allocations := map[string][]time.Duration{}, map[string]float64{}
	if err := readBenchmarks(printed, times, allocations); err != nil {
		t.Fatal(err)
	}
	rows, err := readerRows(times, allocations)
	if err != nil || len(rows) != 3 {
		t.Fatalf("%+v, %v", rows, err)
	}
	if !*rows[0].Met || *rows[1].Met || !*rows[2].Met || rows[0].Value != 10 || rows[2].Value != 3 || *rows[0].Ratio != 0.111 {
		t.Errorf("nine times, seven times and three allocations are %+v", rows)
	}
	if _, err := readerRows(map[string][]time.Duration{"ours": {1}}, allocations); err == nil {
		t.Error("a comparison that isn't there was made")
	}
}

// TestCallersAreUsersOfTheirOwn wants each caller to keep to one header, and the headers shared out among them.
func TestCallersAreUsersOfTheirOwn(t *testing.T) {
	var mu sync.Mutex
	seen := map[string]int{}
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		seen[r.Header.Get("Authorization")]++
	}))
	defer server.Close()
	b := &bench{Stack: &stack.Stack{Mattermost: new(stack.Mattermost)}}
	c := b.listingAs("/folder", "one", "two")
	c.URL, c.Callers, c.WarmUp, c.Each = server.URL, 4, 1, 2
	times, err := c.run(t.Context())
	if want := map[string]int{"Bearer one": 6, "Bearer two": 6}; err != nil || len(times) != 8 || !maps.Equal(seen, want) {
		t.Errorf("%d calls count, the server saw %v: %v", len(times), seen, err)
	}
}

// TestSlowHost wants the request at the host as it was sent, and remembered.
func TestSlowHost(t *testing.T) {
	seen := make(chan string, 1)
	host := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		seen <- r.Method + " " + r.URL.Path + " " + r.Header.Get("Depth") + " " + string(body)
		w.WriteHeader(http.StatusMultiStatus)
	}))
	defer host.Close()
	slow, err := startSlowHost(t.Context(), host.URL+"/dav/", time.Nanosecond)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = slow.stop() }()
	request, err := http.NewRequestWithContext(t.Context(), "PROPFIND", slow.URL+"Many/", strings.NewReader("<what/>"))
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Depth", "1")
	response, err := new(http.Client).Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	if got := <-seen; got != "PROPFIND /dav/Many/ 1 <what/>" || response.StatusCode != http.StatusMultiStatus {
		t.Errorf("the host saw %q and answered %s", got, response.Status)
	}
	if last := slow.last(); last == nil || last.header.Get("Depth") != "1" || string(last.body) != "<what/>" {
		t.Errorf("remembered is %+v", last)
	}
}

// TestReport wants the fields that readers of the JSON know, and null where there is nothing to say.
func TestReport(t *testing.T) {
	rows := []row{
		row{Work: "a", Value: 3, Unit: "s", Against: "b: 2 s"}.ratioAtMost(2, 1.3),
		{Work: "c", Value: 1, Unit: "MiB"},
	}
	file := filepath.Join(t.TempDir(), "bench.json")
	if err := writeJSON(file, rows); err != nil {
		t.Fatal(err)
	}
	content, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var got bytes.Buffer
	if err := json.Compact(&got, content); err != nil {
		t.Fatal(err)
	}
	const want = `[{"work":"a","value":3,"unit":"s","against":"b: 2 s","ratio":1.5,"target":"at most 1.3 x","met":false},` +
		`{"work":"c","value":1,"unit":"MiB","against":"","ratio":null,"target":"","met":null}]`
	if got.String() != want {
		t.Errorf("written is %s", got.String())
	}
	var table bytes.Buffer
	if err := printTable(&table, rows); err != nil || !strings.Contains(table.String(), "at most 1.3 x  no") {
		t.Errorf("printed is %v\n%s", err, table.String())
	}
}
