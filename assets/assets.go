// Package assets holds the files that the plugin publishes.
package assets

import _ "embed"

// OpenAPI is the published contract of the HTTP API (OpenAPI 3.1).
//
//go:embed openapi.yaml
var OpenAPI []byte
