/* page.css and page.js, which the build makes strings of. */
#ifndef S3_ANALYZE_RENDER_PAGE_PAGE_FILES_H
#define S3_ANALYZE_RENDER_PAGE_PAGE_FILES_H

extern const char page_css[], page_js[];

#endif
