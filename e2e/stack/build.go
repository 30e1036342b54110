package stack

import (
	"archive/tar"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
)

// Root is the folder of the project: the nearest one at or above the working folder that holds
// plugin.json.
func Root() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for !isFile(filepath.Join(dir, "plugin.json")) {
		parent := filepath.Dir(dir)
		if parent == dir {
			return "", errors.New("no plugin.json at or above the working folder")
		}
		dir = parent
	}
	return dir, nil
}

// builder compiles the nested modules into the cache, once for each content of their sources.
type builder struct {
	root, cache string
	say         func(string)
}

func newBuilder(say func(string)) (builder, error) {
	root, err := Root()
	if err != nil {
		return builder{}, err
	}
	cache := filepath.Join(root, ".cache", "e2e")
	return builder{root: root, cache: cache, say: say}, os.MkdirAll(cache, 0o755)
}

// mattermost gives the server of that version. It must not be built with -trimpath: the server
// looks for its translations, templates and fonts in the module cache.
func (b builder) mattermost(ctx context.Context, version string) (string, error) {
	return b.program(ctx, "Mattermost "+version+" (minutes, the first time)",
		filepath.Join(b.root, "e2e", "mattermost", version))
}

// program builds the module in dir, unless the cache has it.
func (b builder) program(ctx context.Context, what, dir string) (string, error) {
	key, err := sourceKey(dir)
	if err != nil {
		return "", err
	}
	rel, err := filepath.Rel(b.root, dir)
	if err != nil {
		return "", err
	}
	// A module is told by its path in the project, so that two versions don't share a name.
	name := filepath.Join(b.cache, filepath.Base(filepath.Dir(rel))+"-"+filepath.Base(rel))
	built := name + "-" + key
	return built, oneAtATime(name+".lock", func() error {
		if isFile(built) {
			return nil
		}
		err := run(ctx, step{
			Doing: "building " + what, Say: b.say, Dir: dir,
			Args: []string{"sh", "-c", `go build -o "$0.new" . && mv "$0.new" "$0"`, built},
			Env:  []string{"CGO_ENABLED=0", "GOWORK=off", "GOFLAGS=-buildvcs=false"},
		})
		if err != nil {
			return err
		}
		return removeOthers(name, built)
	})
}

// removeOthers removes what was built of older sources of a program: each is a hundred megabytes.
func removeOthers(name, built string) error {
	all, err := filepath.Glob(name + "-*")
	if err != nil {
		return err
	}
	for _, old := range all {
		if old != built {
			err = errors.Join(err, os.Remove(old))
		}
	}
	return err
}

// sourceKey hashes the files of a module's folder.
func sourceKey(dir string) (string, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return "", err
	}
	sum := sha256.New()
	sum.Write([]byte(runtime.Version() + runtime.GOOS + runtime.GOARCH))
	for _, entry := range entries {
		if !entry.Type().IsRegular() {
			continue
		}
		content, err := os.ReadFile(filepath.Join(dir, entry.Name()))
		if err != nil {
			return "", err
		}
		sum.Write([]byte(entry.Name()))
		sum.Write(content)
	}
	return fmt.Sprintf("%x", sum.Sum(nil)[:6]), nil
}

// scanner builds the second plugin and packs it as a bundle in dir.
func (b builder) scanner(ctx context.Context, dir string) (string, error) {
	source := filepath.Join(b.root, "e2e", "scanner")
	program, err := b.program(ctx, "the scanner plugin", source)
	if err != nil {
		return "", err
	}
	bundle := filepath.Join(dir, "scanner.tar.gz")
	return bundle, pack(bundle, []packed{
		{"scanner/plugin.json", filepath.Join(source, "plugin.json"), 0o644},
		{"scanner/plugin", program, 0o755},
	})
}

// packed is a file of an archive: its name there, where it comes from, and its mode.
type packed struct {
	name, from string
	mode       int64
}

func pack(archive string, files []packed) (err error) {
	out, err := os.Create(archive)
	if err != nil {
		return err
	}
	compressed, _ := gzip.NewWriterLevel(out, gzip.BestSpeed)
	tarball := tar.NewWriter(compressed)
	defer func() { err = errors.Join(err, tarball.Close(), compressed.Close(), out.Close()) }()
	for _, file := range files {
		if err := packOne(tarball, file); err != nil {
			return err
		}
	}
	return nil
}

func packOne(tarball *tar.Writer, file packed) error {
	in, err := os.Open(file.from)
	if err != nil {
		return err
	}
	defer func() { _ = in.Close() }()
	info, err := in.Stat()
	if err != nil {
		return err
	}
	err = tarball.WriteHeader(&tar.Header{Name: file.name, Mode: file.mode, Size: info.Size(), Typeflag: tar.TypeReg})
	if err != nil {
		return err
	}
	_, err = io.Copy(tarball, in)
	return err
}
