package api

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/filehost/mattermost-plugin-filehost-attach/server/filehost"
)

type decoded struct {
	Name    string           `json:"name"`
	Secret  *filehost.Secret `json:"secret"`
	Flag    bool             `json:"flag"`
	Count   int              `json:"count"`
	Deep    *decodedDeep     `json:"deep"`
	Members []decodedDeep    `json:"members"`
}

type decodedDeep struct {
	Path string `json:"path"`
}

func bodyRequest(body io.Reader, header ...string) *request {
	r := httptest.NewRequest(http.MethodPost, "/api/attach", body) //nolint:noctx // nothing is sent
	r.Header.Set("Content-Type", "application/json")
	for i := 0; i+1 < len(header); i += 2 {
		r.Header.Add(header[i], header[i+1])
	}
	return &request{Request: r}
}

func TestABodyIsOneObjectOfKnownFieldsEachOnce(t *testing.T) {
	for body, field := range map[string]string{
		`{}`: "", "\n {\t} \r\n": "",
		`{"name":"a\u0001\ud83d\ude00","flag":true,"members":[{"path":"/a"},{}],"deep":{}}`: "",
		``: "body", ` `: "body", `null`: "body", `[]`: "body", `"name"`: "body", `5`: "body", `{"name":"a"`: "body", `{"name":"a",}`: "body",
		`{} {}`: "body", `{}]`: "body", "{}\x00": "body", "\ufeff{}": "body", "{\xff}": "body", "{\x00\"\x00}\x00": "body",
		`{"members":[{"path":"/a\u0000"}]}`:             "members[0].path",
		`{"name":"a","name":"a"}`:                       "name",
		`{"members":[{},{},{},{"path":"a","path":""}]}`: "members[3].path",
		`{"members":[{"path":"/a"},{"path":5}]}`:        "members[1].path",
		`{"members":[{"path":"/a"},null]}`:              "members[1]",
		`{"members":[["a"]]}`:                           "members[0]",
		`{"members":{"0":{}}}`:                          "members",
		`{"deep":{"path":{}}}`:                          "deep.path",
		`{"deep":{"Path":"/a"}}`:                        "deep.Path",
		`{"deep":{"7":"/a"}}`:                           "deep.7",
		`{"members":[{"a/b~c":1}]}`:                     "members[0].a/b~c",
		`{"Name":"a"}`:                                  "Name",
		`{"NAME":"a"}`:                                  "NAME",
		`{"ſecret":"a"}`:                                "ſecret", // equal to secret when case is folded
		`{"other":` + strings.Repeat("[", 20_000):       "other",
		`{"name":` + strings.Repeat("[", 20_000):        "name[0][0][0]…",
		`{"":1}`:                                        "\"\"",
		`{"name":null}`:                                 "name",
		`{"secret":null}`:                               "secret",
		`{"members":null}`:                              "members",
		`{"deep":null}`:                                 "deep",
		`{"flag":"true"}`:                               "flag",
		`{"flag":1}`:                                    "flag",
		`{"count":"5"}`:                                 "count",
		`{"count":5.5}`:                                 "count",
		`{"count":1e999}`:                               "count",
		`{"count":9223372036854775808}`:                 "count",
		`{"secret":5}`:                                  "secret",
		"{\"name\":\"\xff\"}":                           "name",
		"{\"name\":\"\xed\xa0\x80\"}":                   "name",
		"{\"name\":\"\xc0\x80\"}":                       "name",
		`{"name":"\ud800"}`:                             "name",
		`{"name":"\udc00\ud800"}`:                       "name",
		"{\"name\":\"two\nlines\"}":                     "name",
		`{"name":"\x41"}`:                               "name",
	} {
		var into decoded
		err := decodeBody(bodyRequest(strings.NewReader(body)), &into)
		if field == "" {
			assert.NoError(t, err, "%q", body)
			continue
		}
		var known *filehost.Error
		if assert.ErrorAs(t, err, &known, "%q", body) {
			assert.Equal(t, filehost.InvalidRequest, known.Kind, "%q", body)
			assert.Equal(t, field, known.Field, "%q", body)
			assert.NotEmpty(t, known.Message)
		}
	}
}

func TestALongFieldNameIsQuotedShort(t *testing.T) {
	err := decodeBody(bodyRequest(strings.NewReader(`{"`+strings.Repeat("ä", 5000)+`":1}`)), &decoded{})
	var known *filehost.Error
	require.ErrorAs(t, err, &known)
	assert.Equal(t, strings.Repeat("ä", 32)+"…", known.Field)
	assert.Less(t, len(known.Message), 200)
}

func TestABodySaysThatItIsPlainJSON(t *testing.T) {
	for name, test := range map[string]struct {
		header []string
		field  string
	}{
		"with its character set":      {[]string{"Content-Type", `Application/JSON; Charset="UTF-8"`}, ""},
		"of no type":                  {[]string{"Content-Type", ""}, "Content-Type"},
		"of a plain form":             {[]string{"Content-Type", "text/plain"}, "Content-Type"},
		"of a form":                   {[]string{"Content-Type", "application/x-www-form-urlencoded"}, "Content-Type"},
		"of another type with a hint": {[]string{"Content-Type", "text/plain; a=application/json"}, "Content-Type"},
		"of a broken type":            {[]string{"Content-Type", "application/json; ="}, "Content-Type"},
		"in another character set":    {[]string{"Content-Type", "application/json; charset=utf-16"}, "Content-Type"},
		"of two types":                {[]string{"Content-Type", "application/json", "+Content-Type", "text/plain"}, "Content-Type"},
		"not compressed":              {[]string{"Content-Encoding", "identity"}, ""},
		"compressed":                  {[]string{"Content-Encoding", "gzip"}, "Content-Encoding"},
		"compressed twice":            {[]string{"Content-Encoding", "identity", "+Content-Encoding", "gzip"}, "Content-Encoding"},
	} {
		t.Run(name, func(t *testing.T) {
			r := bodyRequest(strings.NewReader("{}"))
			for i := 0; i < len(test.header); i += 2 {
				if added, ok := strings.CutPrefix(test.header[i], "+"); ok {
					r.Header.Add(added, test.header[i+1])
				} else {
					r.Header.Set(test.header[i], test.header[i+1])
				}
			}
			err := decodeBody(r, &decoded{})
			if test.field == "" {
				require.NoError(t, err)
				return
			}
			var known *filehost.Error
			require.ErrorAs(t, err, &known)
			assert.Equal(t, filehost.InvalidRequest, known.Kind)
			assert.Equal(t, test.field, known.Field)
		})
	}
}

func TestARequestWithABodyTakesNoParameters(t *testing.T) {
	w := newWorld(t)
	for query, want := range map[string]string{"host=other": "host", "user_id=x": "user_id", "access_token=x": "channel_id", "csrf=x": "channel_id"} {
		w.mattermost.Refuse(filehost.Invalid("channel_id", "No."))
		f := failureOf(t, w.call(t, alice, http.MethodPost, "/attach?"+query, `{"channel_id":"x","items":[{"path":"/a"}]}`))
		assert.Equal(t, "invalid_request "+want, f.Code+" "+f.Details.Field, query)
	}
}

// endless is a body of spaces that counts what is read of it.
type endless struct{ read int }

func (e *endless) Read(buffer []byte) (int, error) {
	copy(buffer, bytes.Repeat([]byte{' '}, len(buffer)))
	e.read += len(buffer)
	return len(buffer), nil
}

func TestABodyAboveItsLimitIsReadNoFurther(t *testing.T) {
	body := &endless{}
	var known *filehost.Error
	require.ErrorAs(t, decodeBody(bodyRequest(body), &decoded{}), &known)
	assert.Equal(t, filehost.TooLarge, known.Kind)
	assert.Equal(t, int64(maxBody), known.Limit)
	assert.Equal(t, filehost.OwnerPlugin, known.LimitOwner)
	assert.Less(t, body.read, 2*maxBody)
	require.NoError(t, decodeBody(bodyRequest(strings.NewReader("{}"+strings.Repeat(" ", maxBody-2))), &decoded{}))
}

// broken is a body whose reading fails.
type broken struct{}

func (broken) Read([]byte) (int, error) { return 0, io.ErrUnexpectedEOF }

func TestABodyThatBreaksOffIsToldFromOneThatIsWrong(t *testing.T) {
	err := decodeBody(bodyRequest(broken{}), &decoded{})
	require.ErrorIs(t, err, io.ErrUnexpectedEOF, "the log shows why")
	assert.Equal(t, filehost.InvalidRequest, filehost.KindOf(err))
}

// FuzzDecodeBody holds the decoder to encoding/json: what it takes, that takes too, with the same result.
func FuzzDecodeBody(f *testing.F) {
	for _, body := range []string{`{"name":"a","members":[{"path":"/a"}]}`, `{"Name":"a"}`, `{"flag":true,"flag":false}`, `{"deep":{"path":"\ud800"}}`, `{"count":1e2}`, "{}\x00", `{"secret":"s"}`} {
		f.Add([]byte(body))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		var strict, lax decoded
		err := decodeBody(bodyRequest(bytes.NewReader(body)), &strict)
		if err != nil {
			var known *filehost.Error
			require.ErrorAs(t, err, &known)
			require.NotEmpty(t, known.Field)
			return
		}
		decoder := json.NewDecoder(bytes.NewReader(body))
		decoder.DisallowUnknownFields()
		require.NoError(t, decoder.Decode(&lax))
		require.Equal(t, lax, strict)
	})
}
