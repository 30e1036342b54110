// Package rest calls JSON APIs over HTTP, as one user or as nobody.
package rest

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
)

// Client calls the API below URL. An empty Token means nobody in particular.
type Client struct {
	URL   string
	Token string
	HTTP  *http.Client
}

// New calls the API below url over connections of its own.
func New(url, token string) *Client {
	return &Client{URL: url, Token: token, HTTP: &http.Client{}}
}

// StatusError is an answer other than 2xx.
type StatusError struct {
	Method, Path string
	Status       int
	Body         string
}

func (e *StatusError) Error() string {
	return fmt.Sprintf("%s %s: %d %s", e.Method, e.Path, e.Status, e.Body)
}

// Get decodes an answer into out, which may be nil.
func (c *Client) Get(ctx context.Context, path string, out any) error {
	return c.json(ctx, http.MethodGet, path, nil, out)
}

// Post sends in as JSON and decodes the answer into out; both may be nil.
func (c *Client) Post(ctx context.Context, path string, in, out any) error {
	return c.json(ctx, http.MethodPost, path, in, out)
}

// Put sends in as JSON and decodes the answer into out; both may be nil.
func (c *Client) Put(ctx context.Context, path string, in, out any) error {
	return c.json(ctx, http.MethodPut, path, in, out)
}

// Patch is Put with PATCH.
func (c *Client) Patch(ctx context.Context, path string, in, out any) error {
	return c.json(ctx, http.MethodPatch, path, in, out)
}

// Delete sends no body and ignores that of the answer.
func (c *Client) Delete(ctx context.Context, path string) error {
	return c.json(ctx, http.MethodDelete, path, nil, nil)
}

func (c *Client) json(ctx context.Context, method, path string, in, out any) error {
	var body io.Reader
	if in != nil {
		encoded, err := json.Marshal(in)
		if err != nil {
			return err
		}
		body = bytes.NewReader(encoded)
	}
	request, err := http.NewRequestWithContext(ctx, method, c.URL+path, body)
	if err != nil {
		return err
	}
	if in != nil {
		request.Header.Set("Content-Type", "application/json")
	}
	response, err := c.Send(request)
	if err != nil {
		return err
	}
	defer func() { _ = response.Body.Close() }()
	if out == nil {
		_, err = io.Copy(io.Discard, response.Body)
		return err
	}
	return json.NewDecoder(response.Body).Decode(out)
}

// Send sends a request as the client's user. An answer other than 2xx is a *StatusError.
func (c *Client) Send(request *http.Request) (*http.Response, error) {
	if c.Token != "" {
		request.Header.Set("Authorization", "Bearer "+c.Token)
	}
	response, err := c.HTTP.Do(request)
	if err != nil {
		return nil, err
	}
	if response.StatusCode/100 == 2 {
		return response, nil
	}
	defer func() { _ = response.Body.Close() }()
	body, err := io.ReadAll(io.LimitReader(response.Body, 64<<10))
	if err != nil {
		return nil, err
	}
	return nil, &StatusError{request.Method, request.URL.Path, response.StatusCode, string(body)}
}
