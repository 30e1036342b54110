// Command bundle builds the executables that plugin.json names and packs them
// with the webapp part and the assets into the tar.gz that an admin uploads.
// Two runs over the same source with the same Go give the same bytes.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"log"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
)

// manifest is the part of plugin.json that a bundle is built from.
type manifest struct {
	ID      string `json:"id"`
	Version string `json:"version"`
	Server  struct {
		// Executables maps a platform such as "linux-amd64" to the path of its
		// executable, relative to plugin.json.
		Executables map[string]string `json:"executables"`
	} `json:"server"`
	Webapp struct {
		BundlePath string `json:"bundle_path"`
	} `json:"webapp"`
}

func main() {
	log.SetFlags(0)
	log.SetPrefix("bundle: ")

	out := flag.String("out", "", "the tar.gz to write")
	host := flag.Bool("host", false, "build the executable of this platform only")
	flag.Parse()

	if *out == "" {
		log.Fatal("-out is missing")
	}
	if err := run(context.Background(), *out, *host); err != nil {
		log.Fatal(err)
	}
}

// run builds and packs the plugin of the current folder.
func run(ctx context.Context, out string, hostOnly bool) error {
	m, err := readManifest("plugin.json")
	if err != nil {
		return err
	}

	platforms := slices.Sorted(maps.Keys(m.Server.Executables))
	if hostOnly {
		platforms = []string{runtime.GOOS + "-" + runtime.GOARCH}
	}

	files := map[string]fs.FileMode{"plugin.json": 0o644}
	for _, platform := range platforms {
		executable, known := m.Server.Executables[platform]
		if !known {
			return fmt.Errorf("plugin.json names no executable for %s", platform)
		}
		log.Printf("building %s", executable)
		if err := compile(ctx, platform, executable, m.Version); err != nil {
			return err
		}
		files[executable] = 0o755
	}

	// The server copies the whole folder of the main script: its chunks lie beside it.
	for _, folder := range []string{"assets", filepath.Dir(m.Webapp.BundlePath)} {
		if err := collect(folder, files); err != nil {
			return err
		}
	}
	if _, found := files[m.Webapp.BundlePath]; !found {
		return fmt.Errorf("%s is missing: build the webapp part first", m.Webapp.BundlePath)
	}
	for _, name := range []string{"LICENSE", "NOTICE.txt"} {
		if _, err := os.Stat(name); err == nil {
			files[name] = 0o644
		}
	}

	return pack(out, m.ID, files)
}

// readManifest reads the plugin's manifest and refuses one that no bundle can be built from.
func readManifest(path string) (manifest, error) {
	var m manifest
	content, err := os.ReadFile(path) // #nosec G304 -- a constant of this tool
	if err != nil {
		return m, err
	}
	if err := json.Unmarshal(content, &m); err != nil {
		return m, fmt.Errorf("%s: %w", path, err)
	}
	if m.ID == "" || m.Version == "" || len(m.Server.Executables) == 0 || m.Webapp.BundlePath == "" {
		return m, fmt.Errorf("%s: id, version, server.executables and webapp.bundle_path are needed", path)
	}
	return m, nil
}

// compile builds ./server for a platform such as "linux-amd64", without paths
// of this machine and without anything else that differs between two builds.
func compile(ctx context.Context, platform, executable, version string) error {
	goos, goarch, valid := strings.Cut(platform, "-")
	if !valid {
		return fmt.Errorf("platform %q is not GOOS-GOARCH", platform)
	}

	build := exec.CommandContext(ctx, "go", "build", // #nosec G204 -- the words come from plugin.json
		"-trimpath", "-buildvcs=false",
		"-ldflags", "-s -w -buildid= -X main.version="+version,
		"-o", executable, "./server")
	// What a builder has set for programs of his own machine is not for this one.
	build.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS="+goos, "GOARCH="+goarch,
		"GOAMD64=v1", "GOARM64=v8.0", "GOFLAGS=-mod=readonly", "GOWORK=off")
	build.Stdout, build.Stderr = os.Stderr, os.Stderr
	if err := build.Run(); err != nil {
		return fmt.Errorf("build for %s: %w", platform, err)
	}
	return nil
}

// collect adds the files below folder to files. Go sources of the assets are
// compiled into the server and have no business in the bundle.
func collect(folder string, files map[string]fs.FileMode) error {
	err := filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || filepath.Ext(path) == ".go" {
			return err
		}
		if !entry.Type().IsRegular() {
			return fmt.Errorf("%s is no regular file", path)
		}
		files[filepath.ToSlash(path)] = 0o644
		return nil
	})
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%s is missing: build the webapp part first", folder)
	}
	return err
}
