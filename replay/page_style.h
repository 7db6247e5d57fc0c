// The page's style: colours and sizes of the dashboard, light or dark as the system says.
#pragma once

extern const char PAGE_STYLE[];
