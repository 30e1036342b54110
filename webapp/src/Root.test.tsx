import {act, render, screen, waitFor} from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import React from 'react';
import {IntlProvider} from 'react-intl';
import {afterEach, describe, expect, it, vi} from 'vitest';

import {createClient} from './client';
import {Root} from './Root';
import type {Composer} from './editors';
import {createSignal} from './signal';
import {Server} from './test/server';

vi.mock('./picker/PickerDialog', () => {
    throw new Error('Loading chunk picker failed.');
});

afterEach(() => {
    vi.unstubAllGlobals();
});

describe('the root component', () => {
    it('says so when the script of the dialog cannot be loaded', async () => {
        new Server();
        const opened = createSignal<Composer>();
        const focus = vi.fn();
        render(
            <IntlProvider locale='en'>
                <Root
                    client={createClient('')}
                    opened={opened}
                    changed={createSignal()}
                    userId={() => 'me'}
                />
            </IntlProvider>,
        );
        act(() => {
            opened.emit({target: () => undefined, takesFiles: () => false, taken: () => 0, deliver: () => undefined, focus});
        });
        expect(await screen.findByRole('alert')).toHaveTextContent('could not be loaded');

        await userEvent.setup().click(screen.getByRole('button', {name: 'Close'}));
        await waitFor(() => {
            expect(screen.queryByRole('dialog')).not.toBeInTheDocument();
        });
        expect(focus).toHaveBeenCalledOnce();
    });
});
