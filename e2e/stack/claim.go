package stack

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
)

// oneAtATime runs do while no other process runs one with the same lock file, which is created.
func oneAtATime(file string, do func() error) error {
	lock, err := os.OpenFile(file, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return err
	}
	defer func() { _ = lock.Close() }()
	if err := syscall.Flock(int(lock.Fd()), syscall.LOCK_EX); err != nil {
		return err
	}
	return do()
}

// claim makes dir an empty folder that no other stack uses until the file that it gives is closed.
func claim(dir string) (*os.File, error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	lock, err := os.Open(dir)
	if err != nil {
		return nil, err
	}
	if err := syscall.Flock(int(lock.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		return nil, errors.Join(fmt.Errorf("%s is in use by another run: %w", dir, err), lock.Close())
	}
	entries, err := lock.ReadDir(-1)
	if err != nil {
		return nil, errors.Join(err, lock.Close())
	}
	for _, entry := range entries {
		if err := os.RemoveAll(filepath.Join(dir, entry.Name())); err != nil {
			return nil, errors.Join(err, lock.Close())
		}
	}
	return lock, nil
}
