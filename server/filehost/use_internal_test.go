package filehost

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestAUseCaseThatTheAuditLogDoesNotKnowIsRefused(t *testing.T) {
	for grant, want := range map[string]bool{"service_account": true, "app_token": true, "token_exchange": true, "jwt_bearer": true, "password": false, "authorization_code": false, "login_flow": false, "": false} {
		err := recordUse(t.Context(), Credential{Grant: grant})
		assert.Equal(t, want, err != nil, grant)
	}
}
