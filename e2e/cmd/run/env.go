package main

import (
	"fmt"
	"os"
	"strings"

	"github.com/filehost/mattermost-plugin-filehost-attach/e2e/stack"
)

// variable is a line of the env file.
type variable struct{ name, value string }

// environment is what a shell needs to call the stack.
func environment(s *stack.Stack, t *target) []variable {
	return []variable{
		{"SITE_URL", s.Mattermost.URL},
		{"BASE_URL", s.BaseURL()},
		{"ADMIN_TOKEN", s.Admin.Token},
		{"USER_TOKEN", s.User.Token},
		{"USER2_TOKEN", s.User2.Token},
		{"CHANNEL_ID", s.ChannelID},
		{"FILEHOST_URL", t.url},
		{"FILEHOST_USER", t.user},
		{"FILEHOST_PASSWORD", t.password},
		{"FILEHOST_DIR", t.dir},
	}
}

// writeEnv writes lines that any shell can source.
func writeEnv(path string, env []variable) error {
	var lines strings.Builder
	for _, v := range env {
		fmt.Fprintf(&lines, "%s=%s\n", v.name, quote(v.value))
	}
	return os.WriteFile(path, []byte(lines.String()), 0o600)
}

// quote leaves plain words as they are, so that the file is easy to read by other means too.
func quote(value string) string {
	plain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("-_./:@", r)
	}
	if value != "" && strings.IndexFunc(value, func(r rune) bool { return !plain(r) }) < 0 {
		return value
	}
	return "'" + strings.ReplaceAll(value, "'", `'\''`) + "'"
}

// explain prints lines to copy and paste.
func explain(env []variable, envFile, logFile string) {
	say(`
Everything is up. In another terminal:

  . %s
  curl -H "Authorization: Bearer $USER_TOKEN" "$BASE_URL/files?path=/&limit=20"
  curl -H "Authorization: Bearer $USER_TOKEN" "$BASE_URL/files" -G --data-urlencode "path=/Hostile names" -d sort=size -d order=desc
  curl -H "Authorization: Bearer $USER_TOKEN" -H "Content-Type: application/json" "$BASE_URL/attach" \
    -d '{"channel_id":"'$CHANNEL_ID'","items":[{"path":"/Welcome.txt"}],"as":"copy"}'
  curl -H "Authorization: Bearer $USER2_TOKEN" "$BASE_URL/files"     # not connected: says where to connect
  curl -H "Authorization: Bearer $ADMIN_TOKEN" "$BASE_URL/health"
`, quote(envFile))
	for _, v := range env {
		say("  %-17s %s", v.name, v.value)
	}
	say("\nThe server's log is %s. Ctrl-C stops everything.", logFile)
}
