package remote

import (
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/filehost/mattermost-plugin-filehost-attach/server/filehost"
)

// maxRetryAfter is the longest wait that is believed.
const maxRetryAfter = time.Hour

// answered is the cause of an error that stands for a status of the host.
type answered int

// Error implements error.
func (a answered) Error() string { return "status " + strconv.Itoa(int(a)) }

// answeredWith returns the status that err stands for; 0 = it stands for none.
func answeredWith(err error) int {
	var status answered
	if !errors.As(err, &status) {
		return 0
	}
	return int(status)
}

type verdict struct {
	kind    filehost.Kind
	message string // %s is the host's name
}

// verdicts says what a status of the host means to the caller. Any other is nonsense, or a server error.
var verdicts = map[int]verdict{
	http.StatusUnauthorized:        {filehost.CredentialRejected, "%s does not accept your sign-in any more."},
	http.StatusForbidden:           {filehost.Forbidden, "%s does not allow your account to do this."},
	http.StatusNotFound:            {filehost.NotFound, "%s has no such file or folder."},
	http.StatusGone:                {filehost.NotFound, "%s has no such file or folder."},
	http.StatusMethodNotAllowed:    {filehost.Unsupported, "%s can't do this."},
	http.StatusNotImplemented:      {filehost.Unsupported, "%s can't do this."},
	http.StatusRequestTimeout:      {filehost.Timeout, "%s did not answer in time."},
	http.StatusGatewayTimeout:      {filehost.Timeout, "%s did not answer in time."},
	http.StatusConflict:            {filehost.Conflict, "Something at %s is in the way."},
	http.StatusPreconditionFailed:  {filehost.Changed, "The file at %s has changed."},
	http.StatusLocked:              {filehost.Conflict, "The file is locked at %s."},
	http.StatusTooEarly:            {filehost.Conflict, "%s is still working on the file."},
	http.StatusTooManyRequests:     {filehost.RateLimited, "%s asks for fewer requests."},
	http.StatusInsufficientStorage: {filehost.HostUnavailable, "%s did not give its whole answer."},
}

func verdictOf(status int) verdict {
	if v, known := verdicts[status]; known {
		return v
	}
	switch status / 100 {
	case 3:
		return verdict{filehost.HostUnavailable, "%s redirects to another address: an administrator should check its base URL."}
	case 5:
		return verdict{filehost.HostUnavailable, "%s has a problem of its own."}
	default:
		return verdict{filehost.HostUnavailable, "%s gave an answer that makes no sense."}
	}
}

// refusal is the error for an answer whose status is not the one hoped for. It reads what the answer says of it.
func (c *Client) refusal(response *http.Response) error {
	page, _ := io.ReadAll(io.LimitReader(response.Body, drainBytes)) // a part of it says less, and that is all
	refusal := c.statusError(response.StatusCode)
	refusal.RetryAfter = retryAfter(response.Header.Get("Retry-After"), c.clock.Now())
	if response.StatusCode/100 != 5 {
		return refusal
	}
	exception := exceptionOf(page)
	// Nextcloud's WebDAV names the exception alone, the rest of it has the header.
	maintenance := exception == `OCA\DAV\Exception\ServerMaintenanceMode` || response.Header.Get("X-Nextcloud-Maintenance-Mode") == "1"
	switch {
	case maintenance && response.StatusCode == http.StatusServiceUnavailable:
		refusal.Kind, refusal.Message = filehost.Maintenance, c.host.Name+" is in maintenance."
	case exception == `OC\User\DisabledUserException`, exception == `OC\User\LoginException`:
		refusal.Kind, refusal.Message = filehost.Forbidden, c.host.Name+" has disabled your account."
	}
	return refusal
}

// exceptionOf is the name of the exception that an answer of Nextcloud or ownCloud was made of; "" = it names none. Where
// Nextcloud keeps a disabled account out, it says to who signs in by password that a service is unavailable, and why only
// in the message; to who comes with a token it lets the exception itself escape. Older versions have no exception of
// their own for it. What stands behind an exception's name is translated.
func exceptionOf(page []byte) string {
	var answer struct {
		XMLName   xml.Name `xml:"DAV: error"`
		Exception string   `xml:"http://sabredav.org/ns exception"`
		Message   string   `xml:"http://sabredav.org/ns message"`
	}
	if xml.Unmarshal(page, &answer) != nil {
		return ""
	}
	if answer.Exception == `Sabre\DAV\Exception\ServiceUnavailable` {
		within, _, _ := strings.Cut(answer.Message, ":")
		return within
	}
	return answer.Exception
}

func (c *Client) statusError(status int) *filehost.Error {
	v := verdictOf(status)
	return filehost.E(v.kind, fmt.Sprintf(v.message, c.host.Name), answered(status))
}

// nonsense is the error for an answer that no host should give.
func (c *Client) nonsense(cause error) error {
	return filehost.E(filehost.HostUnavailable, c.host.Name+" gave an answer that makes no sense.", cite(cause))
}

// retryAfter reads the header of that name (RFC 9110 10.2.3), seconds or a date. 0 = no wait is known.
func retryAfter(header string, now time.Time) time.Duration {
	var wait time.Duration
	if seconds, err := strconv.ParseUint(header, 10, 31); err == nil {
		wait = time.Duration(seconds) * time.Second
	} else if date, err := http.ParseTime(header); err == nil {
		wait = date.Sub(now)
	}
	return max(0, min(wait, maxRetryAfter))
}
