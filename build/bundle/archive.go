package main

import (
	"archive/tar"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"time"
)

// packedAt is the modification time of everything in a bundle: a fixed one, so
// that the bytes do not depend on when the bundle was built.
var packedAt = time.Date(2000, time.January, 1, 0, 0, 0, 0, time.UTC)

// pack writes files (slash-separated paths relative to the current folder, with
// their modes) below the folder root of the tar.gz out. It replaces out only
// when the archive is complete.
func pack(out, root string, files map[string]fs.FileMode) (err error) {
	if err := os.MkdirAll(filepath.Dir(out), 0o750); err != nil {
		return err
	}
	partial, err := os.CreateTemp(filepath.Dir(out), filepath.Base(out)+".*")
	if err != nil {
		return err
	}
	defer func() {
		err = errors.Join(err, partial.Close())
		if err == nil {
			err = os.Rename(partial.Name(), out)
		}
		if err != nil {
			err = errors.Join(err, os.Remove(partial.Name()))
		}
	}()

	if err := writeArchive(partial, root, files); err != nil {
		return err
	}
	return partial.Chmod(0o644)
}

// writeArchive streams the archive of pack to w.
func writeArchive(w io.Writer, root string, files map[string]fs.FileMode) error {
	// A zero gzip header names neither the time nor the machine.
	compressed, err := gzip.NewWriterLevel(w, gzip.BestCompression)
	if err != nil {
		return err
	}
	archive := tar.NewWriter(compressed)

	for _, folder := range foldersOf(root, files) {
		header := &tar.Header{Typeflag: tar.TypeDir, Name: folder + "/", Mode: 0o755, ModTime: packedAt, Format: tar.FormatUSTAR}
		if err := archive.WriteHeader(header); err != nil {
			return fmt.Errorf("%s: %w", folder, err)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(files)) {
		if err := writeFile(archive, path.Join(root, name), name, files[name]); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	return errors.Join(archive.Close(), compressed.Close())
}

// foldersOf lists the folders that files lie in, parents first.
func foldersOf(root string, files map[string]fs.FileMode) []string {
	folders := map[string]bool{}
	for name := range files {
		for folder := path.Join(root, path.Dir(name)); folder != "."; folder = path.Dir(folder) {
			folders[folder] = true
		}
	}
	return slices.Sorted(maps.Keys(folders))
}

// writeFile adds the file at source as name.
func writeFile(archive *tar.Writer, name, source string, mode fs.FileMode) (err error) {
	file, err := os.Open(source) // #nosec G304 -- a file that this tool found or built itself
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, file.Close()) }()

	info, err := file.Stat()
	if err != nil {
		return err
	}
	header := &tar.Header{
		Typeflag: tar.TypeReg,
		Name:     name,
		Size:     info.Size(),
		Mode:     int64(mode.Perm()),
		ModTime:  packedAt,
		Format:   tar.FormatUSTAR,
	}
	if err := archive.WriteHeader(header); err != nil {
		return err
	}
	_, err = io.Copy(archive, file)
	return err
}
