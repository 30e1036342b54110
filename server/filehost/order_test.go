package filehost

import (
	"bytes"
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"golang.org/x/text/collate"
	"golang.org/x/text/language"
)

// FuzzCollation holds the keys to those of the collator alone, and the text under them to a naive reading.
func FuzzCollation(f *testing.F) {
	for _, name := range []string{"", "file 0010b.txt", "Änderung 9", "a\x00b~", "e\u0301\u0300x", "\t 1.1 00", "0", strings.Repeat("9", 1000), "l·l", "AaBb-_.:;"} {
		f.Add(name)
	}
	for c := range 256 {
		f.Add(string([]byte{byte(c), 'A', byte(c)}))
	}
	number, collator := regexp.MustCompile(`[0-9]+`), collate.New(language.Und, collate.IgnoreCase)
	f.Fuzz(func(t *testing.T, name string) {
		if len(name) > 9999 {
			return // no name is so long, and the naive reading counts digits in four
		}
		text := number.ReplaceAllStringFunc(name, func(found string) string {
			found = strings.TrimLeft(found, "0")
			return fmt.Sprintf("%04d%s", len(found), found)
		})
		var buffer collate.Buffer
		want := collator.KeyFromString(&buffer, text)
		made := newCollation()
		made.key("another, longer name before it")
		assert.True(t, bytes.Equal(want, made.key(name)), "%q", name)
	})
}

// BenchmarkFirstPage orders a folder of 10,000 entries, as a host gives them, into a page of 100.
func BenchmarkFirstPage(b *testing.B) {
	entries := make([]Entry, 10_000)
	for i := range entries {
		path, _ := Root.Join(fmt.Sprintf("Quarterly report %d (final).docx", (i*7919)%len(entries)))
		entries[i] = Entry{Path: path, Kind: File, Size: int64(i*31) % 1000, ModifiedAt: time.Unix(int64(i*17)%5000, 0)}
	}
	for _, sort := range []Sort{ByName, ByModified, BySize} {
		b.Run(string(sort), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				page := newKeysetPage(&Listing{Sort: sort, Limit: 100}, nil)
				for _, entry := range entries {
					page.add(entry)
				}
				if got := page.first.sorted(); len(got) != 100 {
					b.Fatal(len(got))
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*len(entries)), "ns/entry")
		})
	}
}
