package remote

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestADriveItemIsNamedByItsID(t *testing.T) {
	for id, drive := range map[string]string{
		"storage$space!node":             "storage$space",
		"jail$jail!storage:space:node":   "jail$jail",
		"storage$space":                  "",
		"!node":                          "",
		"storage$space!":                 "",
		"storage$space!../me":            "",
		"storage$space!" + longText(255): "",
	} {
		got, item, ok := driveItem(id)
		assert.Equal(t, drive != "", ok, id)
		assert.Equal(t, drive, got, id)
		if ok {
			assert.Equal(t, id, item)
		}
	}
}

func longText(bytes int) string { return strings.Repeat("n", bytes) }
