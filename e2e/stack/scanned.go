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
