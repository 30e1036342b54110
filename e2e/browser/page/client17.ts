import type {ReactElement} from 'react';
import ReactDOM from 'react-dom';

// What `react-dom/client` would be in React 17.

type Root = {render: (element: ReactElement) => void};

/** Shows elements as React 17 does. */
export function createRoot(container: HTMLElement): Root {
    return {
        render: (element) => {
            // eslint-disable-next-line @typescript-eslint/no-deprecated -- there is no other way in React 17
            ReactDOM.render(element, container);
        },
    };
}
