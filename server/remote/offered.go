package remote

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/filehost/mattermost-plugin-filehost-attach/server/filehost"
)

const (
	capabilitiesPath = "/ocs/v2.php/cloud/capabilities?format=json"

	offeredLife    = 5 * time.Minute  // how long what the host offers a user is believed
	offeredRetry   = 30 * time.Second // after it could not be asked for
	mostRemembered = 10_000           // users, or their names: about 230 bytes each
)

// person is who asks the host: a Mattermost user by one connection of his, as one account. Before there is a connection, and
// where the credential tells no account, the user alone tells him from others.
type person struct{ userID, connection, account, username string }

func personOf(credential filehost.Credential) person {
	return person{credential.UserID, credential.Connection, credential.Account, credential.Username}
}

// offered is what the host tells a user of public links, and of uploads. It differs from user to user.
type offered struct {
	known         bool // the host told; else the rest says nothing
	links         bool
	password      bool // a link to read needs one
	anyPassword   bool // some link needs one
	expiry        bool
	days          int   // of life that a link may have at most; 0 = any
	defaultExpiry bool  // a link that asks for no end gets one
	uploadBytes   int64 // of one request of a resumable upload, at most; 0 = no limit
}

// Capabilities implements filehost.Remote.
func (c *Client) Capabilities(ctx context.Context, credential filehost.Credential) filehost.Capabilities {
	capabilities := c.profile.capabilities
	capabilities.Save = capabilities.Save && !credential.ReadOnly
	if !capabilities.Links.Public {
		return capabilities
	}
	offers := c.offers(ctx, credential)
	if credential.ReadOnly || offers.known && !offers.links {
		capabilities.Links = filehost.Links{Internal: capabilities.Links.Internal}
	}
	return capabilities
}

// LinkPolicy implements filehost.Shares.
func (c *Client) LinkPolicy(ctx context.Context, credential filehost.Credential) (filehost.Policy, error) {
	if c.profile.sharing == noSharing {
		return filehost.Policy{}, nil
	}
	offers := c.offers(ctx, credential)
	return filehost.Policy{
		PasswordRequired: offers.password,
		ExpiryRequired:   offers.expiry,
		MaxExpiry:        time.Duration(offers.days) * day,
	}, nil
}

// offers returns what the host told the user lately, or tells him now.
func (c *Client) offers(ctx context.Context, credential filehost.Credential) offered {
	offers, _ := c.offering.get(ctx, personOf(credential), func() (offered, time.Duration) {
		offers, err := c.askOffers(ctx, credential)
		switch {
		case err == nil:
			return offers, offeredLife
		case ctx.Err() != nil:
			return offered{}, 0 // which says nothing of the host
		}
		return offered{}, offeredRetry
	})
	return offers // nothing is known when ctx has ended
}

// offersNow is offers without what is kept.
func (c *Client) offersNow(ctx context.Context, credential filehost.Credential) offered {
	c.offering.forget(personOf(credential))
	return c.offers(ctx, credential)
}

// linkCapabilities is what the capabilities of OCS say of public links. OpenCloud says of passwords that they are not
// enforced and then for what they are: that counts.
type linkCapabilities struct {
	Enabled  *bool `json:"enabled"`
	Allowed  *bool `json:"can_create_public_link"` // ownCloud's; nil = it says nothing of the user
	Password struct {
		Enforced    bool `json:"enforced"`
		EnforcedFor *struct {
			ReadOnly        bool `json:"read_only"`
			ReadWrite       bool `json:"read_write"`
			ReadWriteDelete bool `json:"read_write_delete"`
		} `json:"enforced_for"`
	} `json:"password"`
	ExpireDate struct {
		Enabled  bool  `json:"enabled"`
		Days     loose `json:"days"`
		Enforced bool  `json:"enforced"`
	} `json:"expire_date"`
}

func (c *Client) askOffers(ctx context.Context, credential filehost.Credential) (offered, error) {
	var answer struct {
		OCS struct {
			Data struct {
				Capabilities *struct {
					Sharing struct {
						Enabled *bool            `json:"api_enabled"`
						Allowed *bool            `json:"can_share"` // ownCloud's; nil = it says nothing of the user
						Public  linkCapabilities `json:"public"`
					} `json:"files_sharing"`
					Files struct {
						TUS struct {
							MaxChunkSize loose `json:"max_chunk_size"`
						} `json:"tus_support"`
					} `json:"files"`
				} `json:"capabilities"`
			} `json:"data"`
		} `json:"ocs"`
	}
	err := c.getJSON(ctx, call{
		url:        c.host.Origin() + c.base.Escaped() + capabilitiesPath,
		header:     map[string]string{"OCS-APIRequest": "true", "Accept": "application/json"},
		credential: &credential,
	}, &answer)
	if err != nil {
		return offered{}, err
	}
	if answer.OCS.Data.Capabilities == nil {
		return offered{}, c.nonsense(errors.New("the answer holds no capabilities"))
	}
	sharing := answer.OCS.Data.Capabilities.Sharing
	offers := sharing.Public.offered()
	offers.uploadBytes = max(0, answer.OCS.Data.Capabilities.Files.TUS.MaxChunkSize.number())
	offers.links = isTrue(sharing.Enabled) && isTrue(sharing.Public.Enabled) && !isFalse(sharing.Allowed) && !isFalse(sharing.Public.Allowed)
	return offers, nil
}

func (l *linkCapabilities) offered() offered {
	offers := offered{
		known: true, password: l.Password.Enforced, anyPassword: l.Password.Enforced,
		expiry: l.ExpireDate.Enforced, defaultExpiry: l.ExpireDate.Enabled,
	}
	if enforced := l.Password.EnforcedFor; enforced != nil {
		offers.password = enforced.ReadOnly
		offers.anyPassword = enforced.ReadOnly || enforced.ReadWrite || enforced.ReadWriteDelete || l.Password.Enforced
	}
	if days := l.ExpireDate.Days.number(); offers.expiry && days > 0 && days <= maxLinkDays {
		offers.days = int(days)
	}
	return offers
}

// maxLinkDays is a life of links that is as good as any.
const maxLinkDays = 36_500

func isTrue(told *bool) bool  { return told != nil && *told }
func isFalse(told *bool) bool { return told != nil && !*told }

// loose is a number or a text of JSON: PHP isn't strict about which it sends. Anything else counts as nothing.
type loose string

// UnmarshalJSON implements json.Unmarshaler.
func (l *loose) UnmarshalJSON(raw []byte) error {
	var text string
	if json.Unmarshal(raw, &text) == nil { // null, too
		*l = loose(text)
		return nil
	}
	var number json.Number
	if json.Unmarshal(raw, &number) == nil {
		*l = loose(number)
	}
	return nil
}

// number is the whole number that it is; 0 = it is none.
func (l loose) number() int64 {
	number, err := json.Number(l).Int64()
	if err != nil {
		return 0
	}
	return number
}
