package main

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"os"
	"text/tabwriter"
)

// row is one line of the table.
type row struct {
	Work    string   `json:"work"`
	Value   float64  `json:"value"`
	Unit    string   `json:"unit"`
	Against string   `json:"against"` // what the value is compared with, and its own value
	Ratio   *float64 `json:"ratio"`   // of the value to that; null where a ratio says nothing
	Target  string   `json:"target"`  // "" where the number is only reported
	Met     *bool    `json:"met"`     // null without a target
}

// atMost gives the row a target that it meets when measured is no more than bound.
func (r row) atMost(measured, bound float64, target string) row {
	met := measured <= bound
	r.Target, r.Met = target, &met
	return r
}

// ratioTo sets the ratio of the row's value to other.
func (r row) ratioTo(other float64) row {
	ratio := rounded(r.Value / other)
	r.Ratio = &ratio
	return r
}

// ratioAtMost is atMost for the ratio to other.
func (r row) ratioAtMost(other, bound float64) row {
	r = r.ratioTo(other)
	return r.atMost(*r.Ratio, bound, fmt.Sprintf("at most %g x", bound))
}

// rounded keeps three significant digits: no measurement here is better than that.
func rounded(value float64) float64 {
	if value == 0 {
		return 0
	}
	unit := math.Pow(10, math.Floor(math.Log10(math.Abs(value)))-2)
	// Division by the inverse keeps decimal fractions exact where multiplication doesn't.
	if unit < 1 {
		return math.Round(value/unit) / math.Round(1/unit)
	}
	return math.Round(value/unit) * unit
}

func printTable(out io.Writer, rows []row) error {
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	_, _ = fmt.Fprintln(table, "work\tvalue\tagainst\tratio\ttarget\tmet")
	for _, r := range rows {
		ratio, met := "", ""
		if r.Ratio != nil {
			ratio = fmt.Sprintf("%g", *r.Ratio)
		}
		if r.Met != nil {
			met = map[bool]string{true: "yes", false: "no"}[*r.Met]
		}
		_, _ = fmt.Fprintf(table, "%s\t%g %s\t%s\t%s\t%s\t%s\n", r.Work, r.Value, r.Unit, r.Against, ratio, r.Target, met)
	}
	return table.Flush()
}

func writeJSON(file string, rows []row) error {
	encoded, err := json.MarshalIndent(rows, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(file, append(encoded, '\n'), 0o644)
}
