package main

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/mattermost/mattermost/server/public/model"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/filehost/mattermost-plugin-filehost-attach/server/filehost"
)

func TestRemediesNameSettingsAsTheSystemConsoleDoes(t *testing.T) {
	raw, err := os.ReadFile("../plugin.json")
	require.NoError(t, err)
	var manifest model.Manifest
	require.NoError(t, json.Unmarshal(raw, &manifest))
	labels := map[string]string{}
	for _, setting := range manifest.SettingsSchema.Settings {
		labels[setting.Key] = strings.TrimSuffix(setting.DisplayName, ":")
		assert.Equal(t, labels[setting.Key], filehost.LabelOf(strings.ToLower(setting.Key)), "Mattermost stores it in lower case")
	}
	assert.Equal(t, labels, filehost.Labels)
	assert.Equal(t, "SiteURL", filehost.LabelOf("SiteURL"), "not ours")
}
