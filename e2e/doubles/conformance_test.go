package doubles

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/textproto"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/filehost/mattermost-plugin-filehost-attach/e2e/hosts"
)

// exchange is a recorded request and its answer, as the files in testdata hold them.
type exchange struct {
	title          string
	method, target string
	header         http.Header
	body           string
	want           recorded
}

// recorded is the answer of a real host.
type recorded struct {
	status int
	header http.Header
	body   string
	// inPart is set where only some headers were recorded.
	inPart bool
	// compare says what of the body was: "exactly", its "shape" (the keys of JSON), how it "begins",
	// what is "contained" in it, "any".
	compare string
}

// readExchanges reads a file of exchanges, each as
//
//	=== title
//	METHOD target
//	Header: value
//
//	body
//	--- answer [headers in-part] [body COMPARE]
//	HTTP/1.1 status
//	Header: value
//
//	body
func readExchanges(t *testing.T, file string) []exchange {
	t.Helper()
	content, err := os.ReadFile("testdata/" + file)
	must(t, err)
	var all []exchange
	for _, part := range strings.Split("\n"+string(content), "\n=== ")[1:] {
		title, rest, _ := strings.Cut(part, "\n")
		request, answer, ok := strings.Cut(rest, "\n--- answer")
		if !ok {
			t.Fatalf("%s: %s has no answer", file, title)
		}
		flags, answer, _ := strings.Cut(answer, "\n")
		head, body, _ := strings.Cut(request, "\n\n")
		first, header := readHead(t, head)
		method, target, _ := strings.Cut(first, " ")
		e := exchange{title: title, method: method, target: target, header: header, body: body}
		e.want = readAnswer(t, answer, flags)
		all = append(all, e)
	}
	return all
}

func readAnswer(t *testing.T, answer, flags string) recorded {
	t.Helper()
	head, body, _ := strings.Cut(answer, "\n\n")
	first, header := readHead(t, head)
	fields := strings.Fields(first)
	if len(fields) < 2 {
		t.Fatalf("no status in %q", answer)
	}
	status, err := strconv.Atoi(fields[1])
	must(t, err)
	want := recorded{status: status, header: header, body: strings.TrimRight(body, "\n"), compare: "exactly"}
	want.inPart = strings.Contains(flags, "headers in-part")
	if _, compare, ok := strings.Cut(flags, "body "); ok {
		want.compare = strings.Fields(compare)[0]
	}
	return want
}

func readHead(t *testing.T, head string) (first string, header http.Header) {
	t.Helper()
	first, rest, _ := strings.Cut(head, "\n")
	read, err := textproto.NewReader(bufio.NewReader(strings.NewReader(rest + "\r\n\r\n"))).ReadMIMEHeader()
	must(t, err)
	return first, http.Header(read)
}

// recordedWords are what differs between two servers of one kind: each becomes the same word.
var recordedWords = []struct {
	pattern *regexp.Regexp
	word    string
}{
	{regexp.MustCompile(`https?://127\.0\.0\.1(:\d+)?`), "ORIGIN"},
	{regexp.MustCompile(`%21[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b`), "%21UUID"},
	{regexp.MustCompile(`\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b`), "UUID"},
	{regexp.MustCompile(`\b[0-9a-f]{32}\b`), "ETAG"},
	{regexp.MustCompile(`\b[0-9a-f]{13}\b`), "FOLDERETAG"},
	{regexp.MustCompile(`\d{8,}oc[a-z0-9]{10}\b`), "LONGID"},
	{regexp.MustCompile(`<oc:fileid>\d+<`), "<oc:fileid>ID<"},
	{regexp.MustCompile(`<nc:upload_time>\d+<`), "<nc:upload_time>TIME<"},
	{regexp.MustCompile(`\w{3}, \d\d \w{3} \d{4} \d\d:\d\d:\d\d`), "DATE"},
	{regexp.MustCompile(`Alan Turing|\balan\b`), "alice"},
	{regexp.MustCompile(`\b[0-9a-f]{60}\b`), "BOUNDARY"},
}

func generalise(text string) string {
	for _, each := range recordedWords {
		text = each.pattern.ReplaceAllString(text, each.word)
	}
	return strings.TrimRight(strings.ReplaceAll(text, "\r\n", "\n"), "\n")
}

// sentByGo are headers that recordings leave out.
var sentByGo = []string{"Date", "Vary"}

// check compares an answer with the recorded one.
func (want recorded) check(t *testing.T, got *http.Response, body string) {
	t.Helper()
	if got.StatusCode != want.status {
		t.Errorf("status %d, recorded is %d", got.StatusCode, want.status)
	}
	header := got.Header.Clone()
	if slices.Contains(got.TransferEncoding, "chunked") {
		header.Set("Transfer-Encoding", "chunked")
	}
	for name, values := range want.header {
		if given := header.Values(name); generalise(fmt.Sprint(given)) != generalise(fmt.Sprint(values)) {
			t.Errorf("header %s is %q, recorded is %q", name, given, values)
		}
	}
	for name := range header {
		if _, known := want.header[name]; !known && !want.inPart && !slices.Contains(sentByGo, name) {
			t.Errorf("header %s: %s is not in the recording", name, header.Get(name))
		}
	}
	if want.compare == "shape" {
		if expected, shown := shape(t, want.body), shape(t, body); shown != expected {
			t.Errorf("body has the shape\n%s\n\nrecorded is\n%s", shown, expected)
		}
		return
	}
	want.checkBody(t, generalise(body), generalise(want.body))
}

func (want recorded) checkBody(t *testing.T, got, expected string) {
	t.Helper()
	ok := true
	switch want.compare {
	case "any":
	case "exactly":
		ok = got == expected
	case "begins":
		ok = strings.HasPrefix(got, expected)
	case "contained":
		ok = strings.Contains(got, expected)
	default:
		t.Fatalf("what is the comparison %q?", want.compare)
	}
	if !ok {
		t.Errorf("body is\n%s\n\nrecorded is (%s)\n%s", got, want.compare, expected)
	}
}

// shape replaces what a JSON document says and keeps how it says it: keys and kinds of values.
func shape(t *testing.T, document string) string {
	t.Helper()
	var value any
	if err := json.Unmarshal([]byte(document), &value); err != nil {
		t.Fatalf("%v in %s", err, document)
	}
	encoded, err := json.MarshalIndent(hollow(value), "", " ")
	must(t, err)
	return string(encoded)
}

func hollow(value any) any {
	switch value := value.(type) {
	case map[string]any:
		for key, each := range value {
			value[key] = hollow(each)
		}
		return value
	case []any:
		for i, each := range value {
			value[i] = hollow(each)
		}
		return value
	case string:
		return "text"
	case float64:
		return 0
	default:
		return value
	}
}

const (
	clientID, clientSecret = "client", "client-secret"
	callback               = "http://127.0.0.1/callback"
)

func config(t *testing.T) hosts.Config {
	t.Helper()
	return hosts.Config{
		Root: t.TempDir(), Users: []hosts.User{{Name: "alice", Password: "alice-password"}, {Name: "bob", Password: "bob-password"}},
		ClientID: clientID, ClientSecret: clientSecret, RedirectURIs: []string{callback},
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// send sends a request to a double and gives the answer with its body.
func send(t *testing.T, request *http.Request) (*http.Response, string) {
	t.Helper()
	client := &http.Client{
		Transport:     &http.Transport{DisableCompression: true, DisableKeepAlives: true},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	response, err := client.Do(request)
	must(t, err)
	defer func() { _ = response.Body.Close() }()
	body, err := io.ReadAll(response.Body)
	must(t, err)
	return response, string(body)
}

func newRequest(t *testing.T, method, address, body string) *http.Request {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), method, address, strings.NewReader(body))
	must(t, err)
	return request
}

// replay sends recorded requests one after the other and compares each answer.
func replay(t *testing.T, host hosts.Host, file string, words *strings.Replacer) {
	for _, e := range readExchanges(t, file) {
		t.Run(e.title, func(t *testing.T) {
			request := newRequest(t, e.method, host.Origin()+words.Replace(e.target), words.Replace(e.body))
			if size := e.header.Get("Body-Size"); size != "" {
				n, err := strconv.Atoi(size)
				must(t, err)
				request.Body, request.ContentLength = io.NopCloser(bytes.NewReader(make([]byte, n))), int64(n)
			}
			for name, values := range e.header {
				if name != "As" && name != "Body-Size" {
					request.Header[name] = []string{fillIn(t, host, values[0])}
				}
			}
			switch who := e.header.Get("As"); who {
			case "nobody":
			case "":
				request.SetBasicAuth("alice", "alice-password")
			default:
				request.SetBasicAuth(who, "wrong")
			}
			response, body := send(t, request)
			e.want.check(t, response, body)
		})
	}
}

// fillIn puts the ETag of the file that the recordings are about into a header.
func fillIn(t *testing.T, host hosts.Host, header string) string {
	t.Helper()
	if !strings.Contains(header, "{etag}") {
		return header
	}
	request := newRequest(t, http.MethodHead, host.Origin()+"/remote.php/dav/files/alice/Docs/hello.txt", "")
	request.SetBasicAuth("alice", "alice-password")
	response, _ := send(t, request)
	return strings.ReplaceAll(header, "{etag}", response.Header.Get("ETag"))
}

func TestNextcloudAsRecorded(t *testing.T) {
	for _, file := range []string{"nextcloud-dav.txt", "nextcloud-ocs.txt"} {
		t.Run(file, func(t *testing.T) {
			replay(t, startNextcloud(t, config(t)), file, strings.NewReplacer())
		})
	}
}

func startNextcloud(t *testing.T, cfg hosts.Config) *Nextcloud {
	t.Helper()
	host, err := StartNextcloud(t.Context(), cfg)
	must(t, err)
	t.Cleanup(func() { _ = host.Close() })
	return host
}

func TestOwnCloudAsRecorded(t *testing.T) {
	for _, file := range []string{"owncloud-dav.txt", "owncloud-ocs.txt"} {
		t.Run(file, func(t *testing.T) { replay(t, startOwnCloud(t, config(t)), file, strings.NewReplacer()) })
	}
}

func startOwnCloud(t *testing.T, cfg hosts.Config) *OwnCloud {
	t.Helper()
	host, err := StartOwnCloud(t.Context(), cfg)
	must(t, err)
	t.Cleanup(func() { _ = host.Close() })
	return host
}

func TestOpenCloudAsRecorded(t *testing.T) {
	host := startOpenCloud(t, config(t))
	must(t, os.Mkdir(host.Dir("alice")+"/Docs", 0o755))
	for _, content := range []string{"hello opencloud world", "hello opencloud world"} {
		request := newRequest(t, http.MethodPut, host.Origin()+"/remote.php/dav/files/alice/Docs/hello.txt", content)
		request.SetBasicAuth("alice", "alice-password")
		// As recorded: the condition is not looked at.
		request.Header.Set("If-None-Match", "*")
		if response, _ := send(t, request); response.StatusCode/100 != 2 {
			t.Fatalf("PUT: %s", response.Status)
		}
	}
	// The recorded space holds another file, and quotas count it.
	must(t, os.WriteFile(host.Dir("alice")+"/Docs/more.txt", make([]byte, 21), 0o600))
	words := []string{"{space}", spaceID("alice"), "{bob}", userID("bob")}
	for word, name := range map[string]string{"{hello}": "/Docs/hello.txt", "{docs}": "/Docs"} {
		n, err := host.disk.find("alice", name)
		must(t, err)
		words = append(words, word, resourceID(n))
	}
	replay(t, host, "opencloud.txt", strings.NewReplacer(words...))
}

func startOpenCloud(t *testing.T, cfg hosts.Config) *OpenCloud {
	t.Helper()
	host, err := StartOpenCloud(t.Context(), cfg)
	must(t, err)
	t.Cleanup(func() { _ = host.Close() })
	return host
}
