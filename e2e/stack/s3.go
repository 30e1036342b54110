package stack

import (
	"context"
	"crypto/rand"
	"os"
	"path/filepath"
)

const (
	s3Bucket    = "mattermost"
	s3AccessKey = "mattermost"
)

// s3Settings give each write to S3 as long as the server gives a request, as the admin guide asks for, and take the
// certificate of our S3 server.
var s3Settings = Settings{
	"FileSettings":    {"AmazonS3RequestTimeoutMilliseconds": 300_000},
	"ServiceSettings": {"EnableInsecureOutgoingConnections": true},
}

// s3 is rclone's S3 server over a folder, with one bucket for one account. It speaks TLS, as S3 servers do: without it
// Mattermost sends an empty file in a way that S3 doesn't allow, and the plugins' hook for uploads makes empty files.
type s3 struct {
	process         *process
	address, secret string
}

func startS3(ctx context.Context, build builder, dir string) (*s3, error) {
	program, err := build.rclone(ctx)
	if err != nil {
		return nil, err
	}
	buckets := filepath.Join(dir, "buckets")
	if err := os.MkdirAll(filepath.Join(buckets, s3Bucket), 0o755); err != nil {
		return nil, err
	}
	certificate, key := filepath.Join(dir, "certificate.pem"), filepath.Join(dir, "key.pem")
	if err := selfSigned(certificate, key); err != nil {
		return nil, err
	}
	server := &s3{secret: rand.Text()}
	if server.address, err = freeAddress(ctx); err != nil {
		return nil, err
	}
	server.process, err = start(command{
		Name: "s3", Dir: dir,
		Args: []string{program, "serve", "s3", "--addr", server.address,
			"--cert", certificate, "--key", key,
			"--cache-dir", filepath.Join(dir, "cache"), buckets},
		Env: []string{
			// No configuration of the person who runs the tests.
			"RCLONE_CONFIG=" + os.DevNull,
			`RCLONE_AUTH_KEY="` + s3AccessKey + "," + server.secret + `"`,
		},
	})
	if err != nil {
		return nil, err
	}
	// A server that doesn't get ready is handed back all the same, to be stopped.
	return server, untilListening(ctx, server.process, server.address)
}
