// Command rclone is rclone with its S3 and its WebDAV server, built from its Go module, and with its backend for local
// folders alone.
package main

import (
	_ "github.com/rclone/rclone/backend/local"
	"github.com/rclone/rclone/cmd"
	_ "github.com/rclone/rclone/cmd/serve/s3"
	_ "github.com/rclone/rclone/cmd/serve/webdav"
)

func main() { cmd.Main() }
