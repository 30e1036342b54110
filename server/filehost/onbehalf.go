package filehost

import "context"

type userKey struct{}

// ForUser marks calls whose content a user has chosen, such as the folder that is listed: their failures may be of what
// he asks for, and no fault of the server's.
func ForUser(ctx context.Context, userID string) context.Context {
	return context.WithValue(ctx, userKey{}, userID)
}

// UserOf returns the user of ForUser; "" = the content of the call is the plugin's own.
func UserOf(ctx context.Context) string {
	userID, _ := ctx.Value(userKey{}).(string)
	return userID
}
