package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// plant writes files below a fresh folder and makes it the current one.
func plant(t *testing.T, files map[string]string) {
	t.Helper()
	t.Chdir(t.TempDir())
	for name, content := range files {
		require.NoError(t, os.MkdirAll(filepath.Dir(name), 0o750))
		require.NoError(t, os.WriteFile(name, []byte(content), 0o600))
	}
}

// list reads an archive back as "mode name" lines.
func list(t *testing.T, archive io.Reader) []string {
	t.Helper()
	plain, err := gzip.NewReader(archive)
	require.NoError(t, err)
	reader := tar.NewReader(plain)

	var lines []string
	for {
		header, err := reader.Next()
		if errors.Is(err, io.EOF) {
			return lines
		}
		require.NoError(t, err)
		lines = append(lines, fs.FileMode(header.Mode&0o777).String()+" "+header.Name) // #nosec G115 -- masked
	}
}

func TestArchiveDependsOnContentOnly(t *testing.T) {
	files := map[string]fs.FileMode{"server/dist/plugin": 0o755, "assets/icon.svg": 0o644, "plugin.json": 0o644}
	plant(t, map[string]string{"server/dist/plugin": "binary", "assets/icon.svg": "<svg/>", "plugin.json": "{}"})

	var first, second bytes.Buffer
	require.NoError(t, writeArchive(&first, "plugin-id", files))
	require.NoError(t, os.Chtimes("plugin.json", time.Unix(1, 0), time.Unix(1, 0)))
	require.NoError(t, os.Chmod("assets/icon.svg", 0o640))
	require.NoError(t, writeArchive(&second, "plugin-id", files))

	assert.Equal(t, first.Bytes(), second.Bytes())
	assert.Equal(t, []string{
		"-rwxr-xr-x plugin-id/",
		"-rwxr-xr-x plugin-id/assets/",
		"-rwxr-xr-x plugin-id/server/",
		"-rwxr-xr-x plugin-id/server/dist/",
		"-rw-r--r-- plugin-id/assets/icon.svg",
		"-rw-r--r-- plugin-id/plugin.json",
		"-rwxr-xr-x plugin-id/server/dist/plugin",
	}, list(t, &first))
}

func TestPackLeavesNothingHalfWritten(t *testing.T) {
	plant(t, map[string]string{"dist/bundle.tar.gz": "the last good one"})

	err := pack("dist/bundle.tar.gz", "plugin-id", map[string]fs.FileMode{"missing": 0o644})

	require.ErrorIs(t, err, fs.ErrNotExist)
	content, err := os.ReadFile("dist/bundle.tar.gz")
	require.NoError(t, err)
	assert.Equal(t, "the last good one", string(content))
	entries, err := os.ReadDir("dist")
	require.NoError(t, err)
	assert.Len(t, entries, 1)
}

func TestCollect(t *testing.T) {
	plant(t, map[string]string{"assets/icon.svg": "<svg/>", "assets/i18n/en.json": "{}", "assets/assets.go": "package assets"})

	files := map[string]fs.FileMode{}
	require.NoError(t, collect("assets", files))

	assert.Equal(t, map[string]fs.FileMode{"assets/icon.svg": 0o644, "assets/i18n/en.json": 0o644}, files)
	assert.ErrorContains(t, collect("webapp/dist", files), "build the webapp part first")
}

func TestManifestThatNoBundleCanBeBuiltFrom(t *testing.T) {
	for name, content := range map[string]string{
		"no JSON":        `{`,
		"no version":     `{"id":"a","server":{"executables":{"linux-amd64":"x"}},"webapp":{"bundle_path":"y"}}`,
		"no executables": `{"id":"a","version":"1.0.0","webapp":{"bundle_path":"y"}}`,
		"no webapp part": `{"id":"a","version":"1.0.0","server":{"executables":{"linux-amd64":"x"}}}`,
	} {
		t.Run(name, func(t *testing.T) {
			plant(t, map[string]string{"plugin.json": content})
			_, err := readManifest("plugin.json")
			assert.ErrorContains(t, err, "plugin.json")
		})
	}
}
