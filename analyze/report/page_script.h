/* What pages run in a browser: analyze/report/page.js, as the build makes a string of it. A page
 * says all it has to say without. */
#ifndef S3_ANALYZE_REPORT_PAGE_SCRIPT_H
#define S3_ANALYZE_REPORT_PAGE_SCRIPT_H

extern const char page_script[];

#endif
