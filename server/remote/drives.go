package remote

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"

	"github.com/filehost/mattermost-plugin-filehost-attach/server/filehost"
)

// The limits of the list of a user's drives. What is above them is an error, never a short list.
const (
	maxDrives      = 10_000 // spaces, and what others share
	maxDrivesBytes = 16 << 20
)

// drive is one of Graph's (libre-graph-api, Drive), as far as it matters here.
type drive struct {
	ID   string `json:"id"`
	Name string `json:"name"`
	Type string `json:"driveType"`
	Root struct {
		Deleted *struct {
			State string `json:"state"`
		} `json:"deleted"`
		Remote struct {
			ID     string `json:"id"`
			Name   string `json:"name"`
			RootID string `json:"rootId"`
		} `json:"remoteItem"`
	} `json:"root"`
}

// The types of drive that users see, beside personalDrive. What else there is they have by one of these.
const (
	projectDrive  = "project"
	sharesDrive   = "virtual"
	incomingDrive = "mountpoint" // what others share, each by itself; lies in the drive of shares
)

var spaceKinds = map[string]filehost.SpaceKind{
	personalDrive: filehost.PersonalSpace, projectDrive: filehost.ProjectSpace, sharesDrive: filehost.SharesSpace,
}

// drives asks Graph for a user's spaces. Disabled ones are left out.
func (c *Client) drives(ctx context.Context, credential filehost.Credential) (*spaces, error) {
	response, err := c.do(ctx, call{
		method:     http.MethodGet,
		url:        c.host.Origin() + c.base.Escaped() + "/graph/v1.0/me/drives",
		header:     map[string]string{"Accept": "application/json"},
		credential: &credential,
		accept:     []int{http.StatusOK},
		patience:   listPatience,
	})
	switch filehost.KindOf(err) {
	case filehost.NotFound, filehost.Unsupported, filehost.Conflict, filehost.Changed:
		return nil, filehost.E(filehost.HostUnavailable,
			c.host.Name+" does not tell what spaces you have: an administrator should check that its Graph API can be reached.", err)
	}
	if err != nil {
		return nil, err
	}
	defer func() { _ = response.Body.Close() }()
	told, err := readDrives(io.LimitReader(response.Body, maxDrivesBytes))
	var ours *filehost.Error
	switch {
	case err == nil:
		return newSpaces(told), nil
	case errors.Is(err, errTooManyDrives):
		return nil, &filehost.Error{
			Kind: filehost.TooLarge, Limit: maxDrives, LimitOwner: filehost.OwnerPlugin, Err: err,
			Message: fmt.Sprintf("You have more than %d spaces and shares at %s: so many can't be listed.", maxDrives, c.host.Name),
		}
	case errors.As(err, &ours): // of the body: it stalled, or broke off
		return nil, err
	}
	return nil, c.nonsense(err)
}

var errTooManyDrives = errors.New("too many drives")

// readDrives reads the list, one drive at a time: of a space with many members each of them is told.
func readDrives(body io.Reader) (drives []drive, err error) {
	decoder := json.NewDecoder(body)
	if err := skipTo(decoder, json.Delim('{')); err != nil {
		return nil, err
	}
	told := false
	for decoder.More() {
		key, err := decoder.Token()
		if err != nil {
			return nil, err
		}
		switch key {
		case "value":
			told = true
			if drives, err = readDriveList(decoder, drives); err != nil {
				return nil, err
			}
		case "@odata.nextLink":
			return nil, errors.New("a list of drives that goes on elsewhere")
		default:
			var other json.RawMessage
			if err := decoder.Decode(&other); err != nil {
				return nil, err
			}
		}
	}
	if !told {
		return nil, errors.New("no list of drives")
	}
	return drives, skipTo(decoder, json.Delim('}'))
}

func readDriveList(decoder *json.Decoder, drives []drive) ([]drive, error) {
	if err := skipTo(decoder, json.Delim('[')); err != nil {
		return nil, err
	}
	for decoder.More() {
		var next drive
		if err := decoder.Decode(&next); err != nil {
			return nil, err
		}
		if drives = append(drives, next); len(drives) > maxDrives {
			return nil, errTooManyDrives
		}
	}
	return drives, skipTo(decoder, json.Delim(']'))
}

// skipTo reads the next token, which must be this one.
func skipTo(decoder *json.Decoder, want json.Delim) error {
	token, err := decoder.Token()
	if err == nil && token != want {
		err = fmt.Errorf("%v instead of %v in a list of drives", token, want)
	}
	return err
}
