package stack

import (
	"bytes"
	"context"
	"io"
	"mime/multipart"
	"net/http"
	"os"
	"path/filepath"
)

// InstallPlugin uploads a bundle in place of an older one and enables it.
func (a *Account) InstallPlugin(ctx context.Context, bundle, id string) error {
	body, form, err := bundleForm(bundle)
	if err != nil {
		return err
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, a.URL+"/api/v4/plugins", body)
	if err != nil {
		return err
	}
	request.Header.Set("Content-Type", form)
	response, err := a.Send(request)
	if err != nil {
		return err
	}
	if err := response.Body.Close(); err != nil {
		return err
	}
	return a.Post(ctx, "/api/v4/plugins/"+id+"/enable", nil, nil)
}

func bundleForm(bundle string) (io.Reader, string, error) {
	content, err := os.ReadFile(bundle)
	if err != nil {
		return nil, "", err
	}
	var body bytes.Buffer
	form := multipart.NewWriter(&body)
	if err := form.WriteField("force", "true"); err != nil {
		return nil, "", err
	}
	part, err := form.CreateFormFile("plugin", filepath.Base(bundle))
	if err != nil {
		return nil, "", err
	}
	if _, err := part.Write(content); err != nil {
		return nil, "", err
	}
	return &body, form.FormDataContentType(), form.Close()
}
