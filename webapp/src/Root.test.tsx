import {act, render, screen, waitFor} from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import React from 'react';
import {IntlProvider} from 'react-intl';
import {afterEach, describe, expect, it, vi} from 'vitest';

import {createClient} from './client';
import {Root} from './Root';
import {createSignal} from './signal';
import {Server} from './test/server';

vi.mock('./picker/ConnectDialog', () => {
    throw new Error('Loading chunk connect failed.');
});

afterEach(() => {
    vi.unstubAllGlobals();
});

describe('the root component', () => {
    it('says so when the script of the dialog cannot be loaded', async () => {
        new Server();
        const opened = createSignal();
        render(
            <IntlProvider locale='en'>
                <Root
                    client={createClient('')}
                    opened={opened}
                    changed={createSignal()}
                />
            </IntlProvider>,
        );
        act(opened.emit);
        expect(await screen.findByRole('alert')).toHaveTextContent('could not be loaded');

        await userEvent.setup().click(screen.getByRole('button', {name: 'Close'}));
        await waitFor(() => {
            expect(screen.queryByRole('dialog')).not.toBeInTheDocument();
        });
    });
});
