package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"github.com/filehost/mattermost-plugin-filehost-attach/e2e/api"
)

// attachRounds is how often each side copies.
const attachRounds = 5

// measureAttach copies a file of 1 GiB in several ways.
func measureAttach(ctx context.Context, b *bench) ([]row, error) {
	var spent load
	attach := func(ctx context.Context) (time.Duration, error) {
		before, err := b.processorTimes()
		if err != nil {
			return 0, err
		}
		took, err := b.attach(ctx)
		if err != nil {
			return 0, err
		}
		spent.calls++
		if err := b.addSpent(before, &spent); err != nil {
			return 0, err
		}
		return took, b.forgetCopies(ctx)
	}
	times, err := interleave(ctx, attachRounds, attach, b.upload, b.downloadAndUpload)
	if err != nil {
		return nil, err
	}
	ours, upload, both := seconds(median(times[0])), seconds(median(times[1])), seconds(median(times[2]))
	say("processor time of an attach: " + spent.perCall())
	r := row{Work: "attach of 1 GiB", Value: ours, Unit: "s"}
	toUpload, toBoth := r.ratioAtMost(upload, 1.3), r.ratioAtMost(both, 0.65)
	toUpload.Against = fmt.Sprintf("the server's own REST upload of a local file by curl: %g s", upload)
	toBoth.Against = fmt.Sprintf("download, then upload, by curl: %g s", both)
	return []row{toUpload, toBoth}, nil
}

// attach copies the file through the plugin.
func (b *bench) attach(ctx context.Context) (time.Duration, error) {
	body, err := json.Marshal(api.Attachment{ChannelID: b.ChannelID, Items: []api.Item{{Path: hugeFile}}, As: "copy"})
	if err != nil {
		return 0, err
	}
	return curl(ctx, append(b.asUser(), "--header", "Content-Type: application/json", "--data-binary", string(body), b.BaseURL()+"/attach")...)
}

// upload sends the host's file from the disk to the server's own route.
func (b *bench) upload(ctx context.Context) (time.Duration, error) {
	took, err := b.uploadFile(ctx, filepath.Join(b.Host.Dir(hostUser), hugeFile))
	if err != nil {
		return 0, err
	}
	return took, b.forgetCopies(ctx)
}

func (b *bench) uploadFile(ctx context.Context, file string) (time.Duration, error) {
	target := b.Mattermost.URL + "/api/v4/files?" + url.Values{"channel_id": {b.ChannelID}, "filename": {"1 GiB.bin"}}.Encode()
	return curl(ctx, append(b.asUser(), "--request", "POST", "--header", "Content-Type: application/octet-stream", "--header", "Expect:", "--upload-file", file, target)...)
}

// downloadAndUpload is what a user does without the plugin.
func (b *bench) downloadAndUpload(ctx context.Context) (time.Duration, error) {
	local := filepath.Join(b.dir, "downloaded.bin")
	down, err := curlInto(ctx, local, append(b.asHostUser(), b.Host.URL()+url.PathEscape(hugeFile[1:]))...)
	if err != nil {
		return 0, err
	}
	up, err := b.uploadFile(ctx, local)
	if err != nil {
		return 0, err
	}
	if err := os.Remove(local); err != nil {
		return 0, err
	}
	return down + up, b.forgetCopies(ctx)
}

// forgetCopies removes what the server has stored and waits until the disk is idle, so that no side pays for another's
// writes.
func (b *bench) forgetCopies(ctx context.Context) error {
	stored, err := filepath.Glob(filepath.Join(b.dir, "mattermost", "data", "*"))
	if err != nil {
		return err
	}
	if len(stored) == 0 {
		return fmt.Errorf("the server has stored nothing below %s", b.dir)
	}
	for _, each := range stored {
		if err := os.RemoveAll(each); err != nil {
			return err
		}
	}
	return exec.CommandContext(ctx, "sync").Run()
}
