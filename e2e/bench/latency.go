package main

import (
	"context"
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/filehost/mattermost-plugin-filehost-attach/e2e/doubles"
	"github.com/filehost/mattermost-plugin-filehost-attach/e2e/hosts"
	"github.com/filehost/mattermost-plugin-filehost-attach/e2e/stack"
)

const (
	latency       = 50 * time.Millisecond // of each request to the host
	latencyRounds = 9
	addedTrips    = 2   // that a first page may take more than its PROPFIND
	searchBound   = 1.1 // of a search to what it asks the host for
	wallBound     = 4.0 // of a wall of thumbnails to one of them
	wallSize      = 50
	searched      = "file 77" // is in 111 of the names

	pictureFolder = "/Pictures"
)

// measureLatency compares what users wait for with what the host takes, when each request to the host takes 50 ms: the tests'
// own double of Nextcloud, which pages, searches and makes thumbnails.
func measureLatency(ctx context.Context, b *bench) (rows []row, err error) {
	far, err := b.startFarHost(ctx)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, far.close()) }()
	for _, measure := range []func(context.Context, *farHost) (row, error){
		b.firstPageOfFar, b.pagedByFar, b.keptPageOfFar, b.searchAtFar, b.wallOfFar,
	} {
		measured, err := measure(ctx, far)
		if err != nil {
			return nil, err
		}
		rows = append(rows, measured)
	}
	return rows, nil
}

// farHost is a Nextcloud that every request takes its time to.
type farHost struct {
	*slowHost
	nextcloud *doubles.Nextcloud
}

func (f *farHost) close() error { return errors.Join(f.stop(), f.nextcloud.Close()) }

// startFarHost starts it, and has the plugin work with it for the stack's user.
func (b *bench) startFarHost(ctx context.Context) (*farHost, error) {
	nextcloud, err := doubles.StartNextcloud(ctx, hosts.Config{
		Root:     filepath.Join(b.dir, "nextcloud"),
		Users:    []hosts.User{{Name: hostUser, Password: stack.HostPassword(hostUser)}},
		ClientID: "mattermost", ClientSecret: "unused", RedirectURIs: []string{b.BaseURL() + "/connection/callback/default"},
	})
	if err != nil {
		return nil, err
	}
	far := &farHost{nextcloud: nextcloud}
	if far.slowHost, err = startSlowHost(ctx, nextcloud.URL(), latency); err != nil {
		return nil, errors.Join(err, nextcloud.Close())
	}
	if err = writeFarTree(nextcloud.Dir(hostUser)); err == nil {
		err = b.Configure(ctx, map[string]any{"hostkind": "nextcloud"})
	}
	if err == nil {
		err = b.use(ctx, far.URL)
	}
	if err != nil {
		return nil, errors.Join(err, far.close())
	}
	return far, nil
}

func writeFarTree(dir string) error {
	if err := writeMany(dir, manyFolder, manyCount); err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Join(dir, pictureFolder), 0o755); err != nil {
		return err
	}
	for i := range wallSize {
		if err := writePicture(filepath.Join(dir, pictureFolder, fmt.Sprintf("%d.png", i)), uint8(i)); err != nil {
			return err
		}
	}
	return nil
}

func writePicture(file string, shade uint8) error {
	picture := image.NewGray(image.Rect(0, 0, 320, 240))
	for i := range picture.Pix {
		picture.Pix[i] = color.Gray{Y: shade + uint8(i%7)}.Y
	}
	out, err := os.Create(file) //nolint:gosec // below our own folder
	if err != nil {
		return err
	}
	return errors.Join(png.Encode(out, picture), out.Close())
}

// against compares a request to the plugin with what the plugin has asked the host for last, both by curl.
func (b *bench) against(ctx context.Context, far *farHost, query url.Values) (ours, theirs time.Duration, err error) {
	page := append(b.asUser(), b.BaseURL()+"/files?"+query.Encode())
	if _, err := curl(ctx, page...); err != nil {
		return 0, 0, err
	}
	raw, err := b.askedByCurl(far)
	if err != nil {
		return 0, 0, err
	}
	times, err := interleave(ctx, latencyRounds,
		func(ctx context.Context) (time.Duration, error) { return curl(ctx, page...) },
		func(ctx context.Context) (time.Duration, error) { return curl(ctx, raw...) },
	)
	if err != nil {
		return 0, 0, err
	}
	return median(times[0]), median(times[1]), nil
}

// askedByCurl are curl's arguments for what the host was asked last.
func (b *bench) askedByCurl(far *farHost) ([]string, error) {
	asked := far.last()
	if asked == nil {
		return nil, errors.New("the plugin has asked the host for nothing")
	}
	origin, err := url.Parse(far.URL)
	if err != nil {
		return nil, err
	}
	return asked.byCurl(filepath.Join(b.dir, "asked.xml"), origin.Scheme+"://"+origin.Host+asked.path)
}

func (b *bench) firstPageOfFar(ctx context.Context, far *farHost) (row, error) {
	ours, theirs, err := b.against(ctx, far, url.Values{"path": {manyFolder}})
	r := row{Work: "first page of 100 from 10,000 entries, Nextcloud at 50 ms", Value: milliseconds(ours), Unit: "ms",
		Against: fmt.Sprintf("its PROPFIND by curl: %g ms", milliseconds(theirs))}.ratioTo(milliseconds(theirs))
	trips := rounded(float64(ours-theirs) / float64(latency))
	return r.atMost(trips, addedTrips, fmt.Sprintf("at most %d round trips added (are %g)", addedTrips, trips)), err
}

// pagedByFar is the first page in the host's own order, of which the host gives the first rows alone.
func (b *bench) pagedByFar(ctx context.Context, far *farHost) (row, error) {
	ours, theirs, err := b.against(ctx, far, url.Values{"path": {manyFolder}, "sort": {"host"}})
	return row{Work: "the same in the host's own order", Value: milliseconds(ours), Unit: "ms",
		Against: fmt.Sprintf("its PROPFIND by curl: %g ms", milliseconds(theirs))}.ratioTo(milliseconds(theirs)), err
}

// keptPageOfFar is the first page with few fields, which the plugin has kept, beside the one that it never keeps.
func (b *bench) keptPageOfFar(ctx context.Context, _ *farHost) (row, error) {
	side := func(query url.Values) side {
		page := append(b.asUser(), b.BaseURL()+"/files?"+query.Encode())
		return func(ctx context.Context) (time.Duration, error) { return curl(ctx, page...) }
	}
	times, err := interleave(ctx, latencyRounds,
		side(url.Values{"path": {manyFolder}, "fields": {"basic"}}), side(url.Values{"path": {manyFolder}}))
	if err != nil {
		return row{}, err
	}
	kept, whole := milliseconds(median(times[0])), milliseconds(median(times[1]))
	return row{Work: "the same with fields=basic, kept", Value: kept, Unit: "ms",
		Against: fmt.Sprintf("with all fields, which is not kept: %g ms", whole)}.ratioTo(whole), nil
}

func (b *bench) searchAtFar(ctx context.Context, far *farHost) (row, error) {
	ours, theirs, err := b.against(ctx, far, url.Values{"q": {searched}})
	return row{Work: "search in 10,000 names, Nextcloud at 50 ms", Value: milliseconds(ours), Unit: "ms",
		Against: fmt.Sprintf("its SEARCH by curl: %g ms", milliseconds(theirs))}.ratioAtMost(milliseconds(theirs), searchBound), err
}

// wallOfFar asks for many thumbnails at once, as a page full of images does.
func (b *bench) wallOfFar(ctx context.Context, _ *farHost) (row, error) {
	images := func(callers int) side {
		c := calls{Method: http.MethodGet, Headers: []http.Header{{"Authorization": {"Bearer " + b.token}}}, Status: http.StatusOK, Callers: callers, Each: 1,
			URL: b.BaseURL() + "/thumbnail?size=64&path=" + pictureFolder + "/" + callerNumber + ".png"}
		return func(ctx context.Context) (time.Duration, error) {
			times, _, err := c.runApart(ctx)
			if err != nil {
				return 0, err
			}
			return slices.Max(times), nil // they begin together
		}
	}
	times, err := interleave(ctx, latencyRounds, images(wallSize), images(1))
	if err != nil {
		return row{}, err
	}
	wall, one := milliseconds(median(times[0])), milliseconds(median(times[1]))
	return row{Work: fmt.Sprintf("wall of %d thumbnails, Nextcloud at 50 ms", wallSize), Value: wall, Unit: "ms",
		Against: fmt.Sprintf("one of them: %g ms", one)}.ratioAtMost(one, wallBound), nil
}

// numbered is an address for one of several callers.
func numbered(address string, caller int) string {
	return strings.ReplaceAll(address, callerNumber, fmt.Sprint(caller))
}

// callerNumber stands for the number of a caller in the address of calls.
const callerNumber = "{caller}"
