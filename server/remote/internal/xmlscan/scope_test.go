package xmlscan

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestAttributesAreKnownByTheirNamespaces(t *testing.T) {
	for name, c := range map[string]struct{ document, problem string }{
		"of two namespaces":                    {`<a xmlns:p="one" xmlns:q="two" p:b="" q:b="" b=""/>`, ""},
		"of one namespace":                     {`<a xmlns:p="one" xmlns:q="one" p:b="" q:b=""/>`, "already"},
		"of one, from around":                  {`<a xmlns:p="one"><b xmlns:q="two" xmlns:r="one" p:b="" q:b="" r:b=""/></a>`, "already"},
		"of one, the same prefix":              {`<a xmlns:p="one" p:b="" p:c="" p:b=""/>`, "already"},
		"of one, by a reference":               {`<a xmlns:p="o&#110;e" xmlns:q="one" p:b="" q:b=""/>`, "already"},
		"a prefix that stood for the same":     {`<a xmlns:p="one" xmlns:q="one"><b xmlns:p="two" p:b="" q:b=""/></a>`, ""},
		"a prefix that stands for it again":    {`<a xmlns:p="one" xmlns:q="one"><b xmlns:p="two"><c xmlns:p="one" p:b="" q:b=""/></b></a>`, "already"},
		"a prefix that stood for another":      {`<a xmlns:p="one" xmlns:q="two"><b xmlns:q="one"/><b p:b="" q:b=""/></a>`, ""},
		"a namespace that is gone":             {`<a><b xmlns:p="one" p:b=""/><b xmlns:q="two" xmlns:p="one" p:b="" q:b=""/></a>`, ""},
		"of none, and the default":             {`<a xmlns="one" xmlns:p="one" p:b="" b=""/>`, ""},
		"of none, twice":                       {`<a b="" c="" b=""/>`, "already"},
		"of XML itself":                        {`<a xml:b="" b=""/>`, ""},
		"of XML itself, twice":                 {`<a xmlns:xml="http://www.w3.org/XML/1998/namespace" xml:b="" xml:b=""/>`, "already"},
		"a declaration and its namesake":       {`<a xmlns:b="one" b:b="" b=""/>`, ""},
		"a declaration twice":                  {`<a xmlns:b="one" xmlns:b="two"/>`, "already"},
		"the default twice":                    {`<a xmlns="one" xmlns="two"/>`, "already"},
		"the default and one that is so named": {`<a xmlns="one" xmlns:p="one" p:xmlns=""/>`, ""},
		"a prefix that stands for nothing":     {`<a b:c=""/>`, "stands for no namespace"},
		"one that stands for nothing here":     {`<a><b xmlns:c="one"/><b c:b=""/></a>`, "stands for no namespace"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := tokens(strings.NewReader(c.document), roomy)
			if c.problem == "" {
				require.NoError(t, err)
				return
			}
			var syntax *SyntaxError
			require.ErrorAs(t, err, &syntax)
			assert.Contains(t, syntax.Problem, c.problem)
		})
	}
}

// mostCostly is how many times as long as for an ordinary document the scanner may take for as many bytes of any other.
const mostCostly = 25

// costly are documents that a host may send to keep the scanner busy: a head, and what comes again and again behind it.
// Each is at the limits that the client has.
func costly() map[string][2]string {
	repeat := func(pattern string) string {
		var b strings.Builder
		for i := range 62 {
			b.WriteString(strings.ReplaceAll(pattern, "#", fmt.Sprintf("%02d", i)))
		}
		return b.String()
	}
	long := strings.Repeat("n", 400)
	prefixes := "<r" + repeat(` xmlns:p#="u#"`) + ">"
	return map[string][2]string{
		"one name, of each namespace":  {prefixes, "<x" + repeat(` p#:a=""`) + "/>"},
		"names of the last namespace":  {prefixes, "<x" + repeat(` p00:a#=""`) + "/>"},
		"names without a namespace":    {"<r>", "<x" + repeat(` a#=""`) + "/>"},
		"long names":                   {"<r>", "<x" + repeat(" "+long+`#=""`) + "/>"},
		"long prefixes":                {"<r" + repeat(" xmlns:"+long+`#="u#"`) + ">", "<x" + repeat(" "+long+`#:a=""`) + "/>"},
		"long namespaces":              {"<r>", "<x" + repeat(" xmlns:p#='"+long+"#'") + "/>"},
		"namespaces below many":        {prefixes, "<x xmlns='uxx'/>"},
		"elements of the first prefix": {prefixes, "<p00:e />"},
	}
}

// BenchmarkCostly holds the scanner to mostCostly, byte for byte.
func BenchmarkCostly(b *testing.B) {
	ordinary := fastest(b, "<r>", "<a>0123456789</a>")
	for name, c := range costly() {
		b.Run(strings.ReplaceAll(name, " ", "-"), func(b *testing.B) {
			var took time.Duration
			for b.Loop() {
				took = fastest(b, c[0], c[1])
			}
			times := float64(took) / float64(ordinary)
			b.ReportMetric(times, "x-ordinary")
			if times > mostCostly {
				b.Errorf("it takes %.0f times as long as an ordinary document", times)
			}
		})
	}
}

// fastest is the shortest of a few times that a document of 1 MiB takes.
func fastest(b *testing.B, head, body string) time.Duration {
	const size = 1 << 20
	document := []byte(head + strings.Repeat(body, size/len(body)) + "</r>")
	config := roomy
	config.Limits.Tag, config.Limits.Attributes, config.Limits.Bindings, config.Window = 64<<10, 64, 64, 16<<10
	least := time.Hour
	for range 5 {
		began := time.Now()
		s := New(bytes.NewReader(document), config)
		var err error
		for err == nil {
			_, err = s.Next()
		}
		least = min(least, time.Since(began))
		if !errors.Is(err, io.EOF) {
			b.Fatal(err)
		}
	}
	return least
}
