package stack

import "context"

// ScannerMarker makes the scanner plugin refuse a file whose content holds it.
const ScannerMarker = "FILEHOST-ATTACH-SCANNER-REJECT"

// Scanned is what the scanner plugin saw of an upload.
type Scanned struct {
	Name   string
	Size   int64
	SHA256 string
}

// Scanned gives everything that the scanner plugin saw, oldest first.
func (s *Stack) Scanned(ctx context.Context) ([]Scanned, error) {
	var seen []Scanned
	return seen, s.Admin.Get(ctx, "/plugins/scanner/", &seen)
}

// HoldMarker makes the scanner plugin hold a post whose message has it, until Release.
const HoldMarker = "FILEHOST-ATTACH-SCANNER-HOLD"

// Held gives the number of posts that the scanner plugin holds.
func (s *Stack) Held(ctx context.Context) (int, error) {
	var held int
	return held, s.Admin.Get(ctx, "/plugins/scanner/held", &held)
}

// Release lets the server go on with the posts that are held.
func (s *Stack) Release(ctx context.Context) error {
	return s.Admin.Delete(ctx, "/plugins/scanner/held")
}
