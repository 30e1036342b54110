package filehost_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/filehost/mattermost-plugin-filehost-attach/server/filehost"
)

func TestParseAudience(t *testing.T) {
	for text, want := range map[string]filehost.Audience{
		"":                                     {},
		" , ":                                  {},
		"everyone":                             {Everyone: true},
		"team:sales":                           {Teams: []string{"sales"}},
		" Team: Sales ,team:ops, TEAM:sales, ": {Teams: []string{"ops", "sales"}},
		"group:engineers,group:@ops,everyone":  {Everyone: true, Groups: []string{"engineers", "ops"}},
	} {
		got, err := filehost.ParseAudience(text)
		require.NoError(t, err, text)
		assert.Equal(t, want.Everyone, got.Everyone, text)
		assert.Equal(t, strings.Join(want.Teams, " "), strings.Join(got.Teams, " "), text)
		assert.Equal(t, strings.Join(want.Groups, " "), strings.Join(got.Groups, " "), text)
		assert.Equal(t, !want.Everyone && want.Teams == nil && want.Groups == nil, got.IsEmpty(), text)
	}
	for _, text := range []string{"all", "team", "team:", "team: ", "group:", "user:ann", "everyone:yes", "team:sales;all"} {
		got, err := filehost.ParseAudience(text)
		require.Error(t, err, text)
		assert.True(t, got.IsEmpty(), "an error gives access to nobody")
	}
	_, err := filehost.ParseAudience(strings.Repeat("team:a,", 50))
	require.NoError(t, err, "they are one")
	var many strings.Builder
	for i := range 21 {
		many.WriteString("team:" + strings.Repeat("x", i+1) + ",")
	}
	_, err = filehost.ParseAudience(many.String())
	require.ErrorContains(t, err, "more than 20")
}
